"""One decoding position a row at the speed of its weights: the decoder's layers packed for a cached step.

A one-row product reads every weight once, so a step is as fast as memory and as lean as its count of operations.
Packed means: weights stored [in, out], which streams two to three times faster here than [out, in]; query, key and
value in one product; the query's scale folded into its weights; two plain products instead of the fused attention
kernel.

Dims: B rows, L positions so far, S source positions, D width, H heads.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from generators.models.marian import Cache, DecoderLayer, Memory


class PackedLinear:
    """Linear layers side by side as one product, the first one's output scaled."""

    def __init__(self, *layers: nn.Linear, first_scale: float = 1.0) -> None:
        scales = [first_scale, *[1.0] * (len(layers) - 1)]
        parts = [
            (layer.weight.detach() * scale, layer.bias.detach() * scale)
            for layer, scale in zip(layers, scales, strict=True)
        ]
        self.weight = torch.cat([weight for weight, _ in parts]).t().contiguous()
        self.bias = torch.cat([bias for _, bias in parts])

    def __call__(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


class PackedLayer:
    """A decoder layer's weights, read but not owned."""

    def __init__(self, layer: "DecoderLayer") -> None:
        own, cross = layer.self_attn, layer.encoder_attn
        self.n_heads = own.n_heads
        scale = (own.q_proj.out_features // own.n_heads) ** -0.5
        self.query_key_value = PackedLinear(own.q_proj, own.k_proj, own.v_proj, first_scale=scale)
        self.out = PackedLinear(own.out_proj)
        self.cross_query = PackedLinear(cross.q_proj, first_scale=scale)
        self.cross_out = PackedLinear(cross.out_proj)
        self.fc1, self.fc2 = PackedLinear(layer.fc1), PackedLinear(layer.fc2)
        self.activation = layer.activation
        self.norms = (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm)

    def __call__(self, x: Tensor, index: int, memory: "Memory", bias: Tensor | None, cache: "Cache") -> Tensor:
        """The layer's output for one new position a row: [B, D] -> [B, D]."""
        packed = self.query_key_value(x).view(x.shape[0], 3, self.n_heads, 1, -1)
        query, key, value = packed.transpose(0, 1).flatten(1, 2)  # [B * H, 1, D/H] each
        x = normed(self.norms[0], self.out(attend(query, *cache.append(index, key, value), None, self.n_heads)).add_(x))
        query = self.cross_query(x).view(-1, 1, query.shape[-1])
        keys, values = memory.keys_values[index]
        out = attend(query, keys.flatten(0, 1), values.flatten(0, 1), bias, self.n_heads)
        x = normed(self.norms[1], self.cross_out(out).add_(x))
        return normed(self.norms[2], self.fc2(self.activation(self.fc1(x))).add_(x))


def normed(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    return torch.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


def attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, n_heads: int) -> Tensor:
    """Attention of one scaled query a row: [B * H, 1, D/H], [B * H, L, D/H] twice, bias [B, 1, L] or None -> [B, D]."""
    scores = torch.bmm(query, keys.transpose(1, 2))  # [B * H, 1, L]
    if bias is not None:
        scores = (scores.view(bias.shape[0], n_heads, -1) + bias).view_as(scores)
    return torch.bmm(scores.softmax(-1), values).view(-1, n_heads * values.shape[-1])


def masked_bias(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """What to add to the scores so that padding weighs nothing: [B, 1, 1, S] -> [B, 1, S]."""
    return None if mask is None else like.new_zeros(mask.shape).masked_fill(~mask, float("-inf"))[:, 0]
