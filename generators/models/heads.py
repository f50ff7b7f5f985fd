"""The two parallel models: Marian's blocks without the causal mask, and the head each needs.

Dims: B rows, S source positions, C canvas positions, T target positions, D width, V vocabulary.
"""

import torch
from torch import Tensor, nn

from generators.models.marian import Marian, MarianConfig, Memory, sinusoids


class CtcMarian(Marian):
    """One-shot model: every source state becomes `upsampling` canvas slots, each of which says a token or a blank.

    Libovický & Helcl 2018, https://arxiv.org/abs/1811.04719. A slot's position is fractional, source position +
    i / upsampling, so that a decoder that started from an autoregressive teacher finds the positions it knows.
    """

    def __init__(self, config: MarianConfig, *, upsampling: int, blank_token_id: int, dropout: float = 0.0) -> None:
        super().__init__(config, dropout)
        self.upsampling, self.blank_token_id = upsampling, blank_token_id
        self.canvas_proj = nn.Linear(config.d_model, upsampling * config.d_model)
        slots = torch.arange(config.max_position_embeddings * upsampling) / upsampling
        self.register_buffer("canvas_positions", sinusoids(slots, config.d_model), persistent=False)

    def canvas(self, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """Decoder input [B, C, D] with C = upsampling * S, and its self-attention mask [B, 1, 1, C]."""
        slots = self.canvas_proj(memory.states).unflatten(-1, (self.upsampling, -1)).flatten(1, 2)
        slots = self.dropout(slots + self.canvas_positions[: slots.shape[1]])  # type: ignore[index]
        mask = memory.mask
        return slots, None if mask is None else mask.repeat_interleave(self.upsampling, dim=-1)

    def hidden(self, memory: Memory) -> Tensor:
        """The decoder's states of the whole canvas, in one pass: [B, C, D]."""
        slots, mask = self.canvas(memory)
        return self.model.decoder(slots, memory, mask=mask)  # type: ignore[no-any-return]

    def read(self, memory: Memory) -> Tensor:
        """The logits of the whole canvas: [B, C, V]."""
        return self.logits(self.hidden(memory))


class CmlmMarian(Marian):
    """Conditional masked language model: predicts every masked target token from all the others at once.

    Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324. Their length classifier is here a regression: the
    expected length is a sum over source tokens of how many target tokens each becomes, which needs no longest class.
    """

    def __init__(self, config: MarianConfig, *, mask_token_id: int, dropout: float = 0.0) -> None:
        super().__init__(config, dropout)
        self.mask_token_id = mask_token_id
        self.length_proj = nn.Linear(config.d_model, 2)

    def length(self, memory: Memory) -> tuple[Tensor, Tensor]:
        """Location and scale of a Laplace distribution over target lengths (EOS excluded), in tokens: [B] twice."""
        shares, log_scales = (
            self.length_proj(memory.states).to(torch.promote_types(memory.states.dtype, torch.float32)).unbind(-1)
        )
        real = torch.ones_like(shares) if memory.mask is None else memory.mask[:, 0, 0].to(shares.dtype)
        n_source = real.sum(1)
        location = ((1.0 + shares) * real).sum(1) - 1.0  # the source's EOS becomes nothing
        scale = ((log_scales * real).sum(1) / n_source).clamp(-4, 4).exp() * n_source.sqrt()
        return location, scale

    def hidden(self, token_ids: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
        """The decoder's states of every target position given all of them: [B, T] -> [B, T, D]."""
        return self.model.decoder(self.embed(token_ids), memory, mask=mask)  # type: ignore[no-any-return]

    def fill(self, token_ids: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
        """Their logits: [B, T, V]."""
        return self.logits(self.hidden(token_ids, memory, mask))
