"""One decoding position a row, or a few, at the speed of the weights: the decoder's layers packed for a cached step.

A one-row product reads every weight once, so a step is as fast as memory and as lean as its count of operations.
Packed means: weights stored [in, out], which streams two to three times faster here than [out, in]; query, key and
value in one product; the query's scale folded into its weights; two plain products instead of the fused attention
kernel; all weights in one block in the order they are read.

Dims: B rows, T new positions, L positions so far, S source positions, D width, H heads.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from generators.models.arena import side_by_side

if TYPE_CHECKING:
    from generators.models.cache import Cache
    from generators.models.marian import DecoderLayer, Memory


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

    def plus(self, x: Tensor, residual: Tensor) -> Tensor:
        """The product and a residual, accumulated in place: an operation and a copy less."""
        return torch.add(residual, self.bias).addmm_(x, self.weight)


class PackedNorm:
    """A layer norm whose parameters need no look-up in a module."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        self.shape, self.weight, self.bias, self.eps = norm.normalized_shape, norm.weight, norm.bias, norm.eps

    def __call__(self, x: Tensor) -> Tensor:
        return torch.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


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
        self.linears = (self.query_key_value, self.out, self.cross_query, self.cross_out, self.fc1, self.fc2)
        self.activation = layer.activation
        self.own_norm = PackedNorm(layer.self_attn_layer_norm)
        self.cross_norm = PackedNorm(layer.encoder_attn_layer_norm)
        self.final_norm = PackedNorm(layer.final_layer_norm)

    def __call__(
        self, x: Tensor, index: int, memory: "Memory", biases: tuple[Tensor | None, Tensor | None], cache: "Cache"
    ) -> Tensor:
        """The layer's output for the new positions of all rows: [B * T, D] -> [B * T, D].

        `biases` are added to the scores of the self-attention and of the attention to the source.
        """
        n_rows, n_heads = cache.batch_size, self.n_heads
        packed = self.query_key_value(x).view(n_rows, -1, 3, n_heads, x.shape[1] // n_heads)
        heads = packed.permute(2, 0, 3, 1, 4).flatten(1, 2)  # query, key and value, [B * H, T, D/H] each
        out = attend(heads[0], *cache.append(index, heads[1:]), biases[0], n_heads)
        x = self.own_norm(self.out.plus(out, x))
        keys, values = memory.keys_values[index]
        query = split(self.cross_query(x), n_rows, n_heads)
        out = attend(query, keys.flatten(0, 1), values.flatten(0, 1), biases[1], n_heads)
        x = self.cross_norm(self.cross_out.plus(out, x))
        return self.final_norm(self.fc2.plus(self.activation(self.fc1(x)), x))


def pack(layers: Iterable["DecoderLayer"], embedding: Tensor) -> tuple[list[PackedLayer], Tensor]:
    """A decoder's packed layers, and its output projection: the embedding [V, D], stored [D, V]."""
    packed = [PackedLayer(layer) for layer in layers]
    linears = [linear for layer in packed for linear in layer.linears]
    *weights, output = side_by_side([*(linear.weight for linear in linears), embedding.detach().t()])
    for linear, weight in zip(linears, weights, strict=True):
        linear.weight = weight
    return packed, output.t()


def attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, n_heads: int) -> Tensor:
    """Attention of scaled queries [B * H, T, D/H] over [B * H, L, D/H] twice: [B * T, D]; the bias broadcasts."""
    scores = torch.bmm(query, keys.transpose(1, 2))  # [B * H, T, L]
    if bias is not None:
        scores = (scores.view(-1, n_heads, *scores.shape[1:]) + bias).view_as(scores)
    return merge(torch.bmm(scores.softmax(-1), values), n_heads)


def split(x: Tensor, n_rows: int, n_heads: int) -> Tensor:
    """[B * T, D] -> [B * H, T, D/H]; for one position a row no more than another view."""
    if len(x) == n_rows:
        return x.view(n_rows * n_heads, 1, -1)
    return x.view(n_rows, -1, n_heads, x.shape[1] // n_heads).transpose(1, 2).flatten(0, 1)


def merge(heads: Tensor, n_heads: int) -> Tensor:
    """The way back: [B * H, T, D/H] -> [B * T, D]."""
    width = n_heads * heads.shape[2]
    if heads.shape[1] == 1:
        return heads.view(-1, width)
    return heads.view(-1, n_heads, *heads.shape[1:]).transpose(1, 2).reshape(-1, width)


def masked_bias(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """What to add to the scores so that what `mask` hides weighs nothing, in its shape."""
    return None if mask is None else like.new_zeros(mask.shape).masked_fill(~mask, float("-inf"))
