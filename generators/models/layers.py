"""The parts of the backbone's layers that are not torch's own: attention as Marian's files keep it, and a fast dropout.

Dims: B rows, T positions, D width, H heads.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Dropout(nn.Module):
    """Inverted dropout, its rate rounded to 1/256: `nn.Dropout` spends a tenth of a CPU training step on its draws."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = round(rate * 256)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.dropped == 0:
            return x
        words = torch.randint(-(2**63), 2**63 - 1, (-(-x.numel() // 8),), device=x.device)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.dropped
        return x * (kept.to(x.dtype) * (256 / (256 - self.dropped)))


class Attention(nn.Module):
    """Multi-head attention with the four projections apart, as Marian's files keep them."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.q_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.n_heads, -1).transpose(1, 2)  # [B, H, T, D/H]

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.split(self.k_proj(x)), self.split(self.v_proj(x))

    def forward(self, x: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Attention of `x` over the keys and values, where `mask` is True: [B, T, D] -> [B, T, D]."""
        query = self.split(self.q_proj(x))
        attend = plain_attention if self.training else F.scaled_dot_product_attention
        out = attend(query, key, value, attn_mask=mask)
        return self.out_proj(out.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


def plain_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> Tensor:
    """Scaled dot-product attention in the open: trains in a third of the fused kernel's time on a CPU."""
    scores: Tensor = query * query.shape[-1] ** -0.5 @ key.transpose(-1, -2)
    if attn_mask is not None:
        scores = scores + scores.new_zeros(attn_mask.shape).masked_fill(~attn_mask, -1e9)
    return scores.softmax(-1).to(value.dtype) @ value
