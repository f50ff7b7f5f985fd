"""The encoder-decoder every strategy runs on: the Marian architecture, weight for weight.

Post-norm transformer (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762), sinusoidal positions, one tied embedding,
parameter names of `transformers.MarianMTModel`. The causal mask is an argument: a parallel model lifts it, no more.

Dims: B rows, S source positions, T target positions, D width, H heads, V vocabulary.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generators.models.cache import Cache
from generators.models.layers import Attention, Dropout
from generators.models.step import PackedLayer, masked_bias, pack

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "swish": F.silu, "silu": F.silu, "gelu": F.gelu}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarianConfig:
    """The shape of a model: the keys of a Marian `config.json` that change the computation."""

    vocab_size: int
    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_attention_heads: int
    decoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    activation_function: str
    scale_embedding: bool
    max_position_embeddings: int
    pad_token_id: int
    eos_token_id: int
    decoder_start_token_id: int


@dataclass(slots=True)
class Memory:
    """What the decoder reads of the source: its keys and values for every decoder layer, computed once."""

    states: Tensor  # [B, S, D]
    keys_values: list[tuple[Tensor, Tensor]]  # a layer: [B, H, S, D/H] twice
    mask: Tensor | None  # [B, 1, 1, S], True where a source token stands; None when no row is padded

    def select(self, rows: Tensor) -> "Memory":
        """The memory with its rows gathered by index: [B] -> [len(rows)]."""
        keys_values = [(k[rows], v[rows]) for k, v in self.keys_values]
        return Memory(self.states[rows], keys_values, None if self.mask is None else self.mask[rows])

    def repeated(self, n_times: int) -> "Memory":
        """The memory with each row standing `n_times` in a row."""
        rows = torch.arange(len(self.states), device=self.states.device)
        return self if n_times == 1 else self.select(rows.repeat_interleave(n_times))


class EncoderLayer(nn.Module):
    def __init__(self, config: MarianConfig, dropout: float) -> None:
        super().__init__()
        d = config.d_model
        self.self_attn = Attention(d, config.encoder_attention_heads)
        self.self_attn_layer_norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, config.encoder_ffn_dim)
        self.fc2 = nn.Linear(config.encoder_ffn_dim, d)
        self.final_layer_norm = nn.LayerNorm(d)
        self.activation = ACTIVATIONS[config.activation_function]
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        key, value = self.self_attn.keys_values(x)
        x = self.self_attn_layer_norm(x + self.dropout(self.self_attn(x, key, value, mask)))
        return self.final_layer_norm(x + self.dropout(self.fc2(self.activation(self.fc1(x)))))  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    def __init__(self, config: MarianConfig, dropout: float) -> None:
        super().__init__()
        d, heads = config.d_model, config.decoder_attention_heads
        self.self_attn = Attention(d, heads)
        self.self_attn_layer_norm = nn.LayerNorm(d)
        self.encoder_attn = Attention(d, heads)
        self.encoder_attn_layer_norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, config.decoder_ffn_dim)
        self.fc2 = nn.Linear(config.decoder_ffn_dim, d)
        self.final_layer_norm = nn.LayerNorm(d)
        self.activation = ACTIVATIONS[config.activation_function]
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, layer: int, memory: Memory, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """The layer's output [B, T, D]; `mask` is the self-attention's, None where all see all."""
        key, value = self.self_attn.keys_values(x)
        if cache is not None:
            shape = key.shape[:2]
            key, value = cache.append(layer, torch.stack((key.flatten(0, 1), value.flatten(0, 1))))
            key, value = key.unflatten(0, shape), value.unflatten(0, shape)
        x = self.self_attn_layer_norm(x + self.dropout(self.self_attn(x, key, value, mask)))
        key, value = memory.keys_values[layer]
        x = self.encoder_attn_layer_norm(x + self.dropout(self.encoder_attn(x, key, value, memory.mask)))
        return self.final_layer_norm(x + self.dropout(self.fc2(self.activation(self.fc1(x)))))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    def __init__(self, config: MarianConfig, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.encoder_layers))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return x  # [B, S, D]


class Decoder(nn.Module):
    def __init__(self, config: MarianConfig, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config, dropout) for _ in range(config.decoder_layers))
        self.packed: list[PackedLayer] = []  # the same weights again, once `Marian.pack` has been called

    def forward(self, x: Tensor, memory: Memory, *, mask: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """Hidden states [B, T, D] of the positions in `x` alone, whatever the cache holds before them."""
        if cache is not None and self.packed:
            return self.cached(x, memory, mask, cache)
        for index, layer in enumerate(self.layers):
            x = layer(x, index, memory, mask, cache)
        if cache is not None:
            cache.advance(x.shape[1])
        return x

    def cached(self, x: Tensor, memory: Memory, mask: Tensor | None, cache: Cache) -> Tensor:
        """The same from the packed weights, for a few new positions a row."""
        shape, biases = x.shape, (masked_bias(mask, x), masked_bias(memory.mask, x))
        x = x.flatten(0, 1)
        for index, layer in enumerate(self.packed):
            x = layer(x, index, memory, biases, cache)
        cache.advance(shape[1])
        return x.view(shape)


class Backbone(nn.Module):
    """What Marian's files call `model`."""

    def __init__(self, config: MarianConfig, dropout: float) -> None:
        super().__init__()
        self.shared = nn.Embedding(config.vocab_size, config.d_model, padding_idx=config.pad_token_id)
        self.encoder = Encoder(config, dropout)
        self.decoder = Decoder(config, dropout)


class Marian(nn.Module):
    """The whole model: `encode` once, then `decode` as often as the strategy likes."""

    final_logits_bias: Tensor
    positions: Tensor

    def __init__(self, config: MarianConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.model = Backbone(config, dropout)
        self.dropout = Dropout(dropout)
        self.register_buffer("final_logits_bias", torch.zeros(1, config.vocab_size))
        positions = torch.arange(config.max_position_embeddings)
        self.register_buffer("positions", sinusoids(positions, config.d_model), persistent=False)
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        self.packed_output: Tensor | None = None

    def embed(self, token_ids: Tensor, first_position: int = 0) -> Tensor:
        """Scaled embeddings plus positions: [B, T] -> [B, T, D]."""
        end = first_position + token_ids.shape[1]
        positions = self.positions[first_position:end]
        return self.dropout(torch.add(positions, self.model.shared(token_ids), alpha=self.scale))  # type: ignore[no-any-return]

    def embed_at(self, token_ids: Tensor, places: Tensor) -> Tensor:
        """The same where each token has its own position [B, T]; what lies beyond the last one is given the last."""
        places = places.clamp(max=len(self.positions) - 1)
        return self.dropout(torch.add(self.positions[places], self.model.shared(token_ids), alpha=self.scale))  # type: ignore[no-any-return]

    def encode(self, source_ids: Tensor, real: Tensor | None = None) -> Memory:
        """The memory of a batch of sources [B, S]; `real` [B, S] tells tokens from padding where ids alone do not."""
        real = source_ids != self.config.pad_token_id if real is None else real
        mask = None if bool(real.all()) else real[:, None, None, :]
        states = self.model.encoder(self.embed(source_ids), mask)
        layers = cast(Iterable[DecoderLayer], self.model.decoder.layers)
        keys_values = [layer.encoder_attn.keys_values(states) for layer in layers]
        return Memory(states, [(key.contiguous(), value.contiguous()) for key, value in keys_values], mask)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.output, self.final_logits_bias[0])  # [B, T, V]

    @property
    def output(self) -> Tensor:
        """The output projection [V, D]: the embedding itself, or its copy in the order that streams fastest."""
        return self.model.shared.weight if self.packed_output is None else self.packed_output

    def pack(self) -> None:
        """Lay the decoder's weights out for cached steps; to be called once they no longer change."""
        layers = cast(Iterable[DecoderLayer], self.model.decoder.layers)
        self.model.decoder.packed, self.packed_output = pack(layers, self.model.shared.weight)

    def forward(self, source_ids: Tensor, decoder_ids: Tensor) -> Tensor:
        """Teacher-forced causal logits: [B, S], [B, T] -> [B, T, V]."""
        x = self.embed(decoder_ids)
        return self.logits(self.model.decoder(x, self.encode(source_ids), mask=causal_mask(x)))


def causal_mask(x: Tensor) -> Tensor:
    """True where position t may see position u <= t: [T, T]."""
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()


def sinusoids(positions: Tensor, d_model: int) -> Tensor:
    """Marian's position table: all sines, then all cosines; positions may be fractional: [T] -> [T, D]."""
    rates = 10000.0 ** (-2.0 * torch.arange(d_model // 2, dtype=torch.float64) / d_model)
    angles = positions.double()[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()
