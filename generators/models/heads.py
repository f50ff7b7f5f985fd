"""The parallel models: Marian's blocks without the causal mask, or with a coarser one, and the head each needs.

Dims: B rows, S source positions, C canvas positions, T target positions, D width, V vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from generators.models.marian import Marian, MarianConfig, Memory, sinusoids


class Glance(NamedTuple):
    """True tokens that a one-shot decoder may look at while it learns (Qian et al. 2021)."""

    token_ids: Tensor  # [B, C]
    shown: Tensor  # [B, C]

    def over(self, slots: Tensor, model: Marian) -> Tensor:
        """The decoder's input [B, C, D] with the shown tokens' embeddings in their places."""
        return torch.where(self.shown[:, :, None], model.model.shared(self.token_ids) * model.scale, slots)


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

    def canvas(self, memory: Memory, glance: Glance | None = None) -> tuple[Tensor, Tensor | None]:
        """Decoder input [B, C, D] with C = upsampling * S, and its self-attention mask [B, 1, 1, C]."""
        slots = self.canvas_proj(memory.states).unflatten(-1, (self.upsampling, -1)).flatten(1, 2)
        slots = slots if glance is None else glance.over(slots, self)
        slots = self.dropout(slots + self.canvas_positions[: slots.shape[1]])  # type: ignore[index]
        mask = memory.mask
        return slots, None if mask is None else mask.repeat_interleave(self.upsampling, dim=-1)

    def hidden(self, memory: Memory, glance: Glance | None = None) -> Tensor:
        """The decoder's states of the whole canvas, in one pass: [B, C, D]."""
        slots, mask = self.canvas(memory, glance)
        return self.model.decoder(slots, memory, mask=mask)  # type: ignore[no-any-return]

    def read(self, memory: Memory) -> Tensor:
        """The logits of the whole canvas: [B, C, V]."""
        return self.logits(self.hidden(memory))


class LengthMarian(Marian):
    """A model that is told its output's length, and predicts it by itself where nobody tells.

    The length classifier of Ghazvininejad et al. 2019 is here a regression: the expected length is a sum over source
    tokens of how many target tokens each becomes, which needs no longest class.
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


class CmlmMarian(LengthMarian):
    """Conditional masked language model: predicts every masked target token from all the others at once.

    Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324.
    """

    def hidden(self, token_ids: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
        """The decoder's states of every target position given all of them: [B, T] -> [B, T, D]."""
        return self.model.decoder(self.embed(token_ids), memory, mask=mask)  # type: ignore[no-any-return]

    def fill(self, token_ids: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
        """Their logits: [B, T, V]."""
        return self.logits(self.hidden(token_ids, memory, mask))


class NatMarian(LengthMarian):
    """One-shot model of a known length: every target position starts as a copy of a source state, spread evenly.

    Gu et al. 2018, https://arxiv.org/abs/1711.02281, section 3.1, with states in place of embeddings.
    """

    def __init__(self, config: MarianConfig, *, mask_token_id: int, dropout: float = 0.0) -> None:
        super().__init__(config, mask_token_id=mask_token_id, dropout=dropout)
        self.canvas_proj = nn.Linear(config.d_model, config.d_model)

    def hidden(self, memory: Memory, lengths: Tensor, glance: Glance | None = None) -> Tensor:
        """The decoder's states of `lengths` [B] positions a row, in one pass: [B, T, D]."""
        grid = torch.arange(int(lengths.max()), device=lengths.device)
        real = grid < lengths[:, None]
        n_source = memory.states.shape[1] if memory.mask is None else memory.mask.sum(-1)[:, 0]
        n_words = (lengths.new_ones(len(lengths), 1) * n_source - 1).clamp(min=1)  # the source's EOS becomes nothing
        places = (grid * n_words // lengths[:, None].clamp(min=1)).where(real, 0)
        slots = self.canvas_proj(memory.states)[torch.arange(len(places), device=places.device)[:, None], places]
        slots = self.dropout((slots if glance is None else glance.over(slots, self)) + self.positions[: len(grid)])
        mask = None if bool(real.all()) else real[:, None, None, :]
        return self.model.decoder(slots, memory, mask=mask)  # type: ignore[no-any-return]

    def read(self, memory: Memory, lengths: Tensor) -> Tensor:
        """The logits of those positions: [B, T, V]."""
        return self.logits(self.hidden(memory, lengths))


class SemiMarian(Marian):
    """Semi-autoregressive model: a block of tokens at once, each block given all before it, in blocks of several sizes.

    Wang et al. 2018, https://arxiv.org/abs/1808.08583. Theirs knows one size; here the decoder's input tells the size
    by an embedding, which blocks of one token do without, so that they are plain autoregressive decoding.
    """

    def __init__(self, config: MarianConfig, *, block_lengths: Sequence[int], dropout: float = 0.0) -> None:
        super().__init__(config, dropout)
        self.block_lengths = tuple(block_lengths)
        self.block_embedding = nn.Embedding(len(self.block_lengths), config.d_model)
        nn.init.zeros_(self.block_embedding.weight)

    def embed_block(self, token_ids: Tensor, block_length: int, first_position: int = 0) -> Tensor:
        """Decoder input for tokens that each stand `block_length` before the one to be said: [B, T] -> [B, T, D]."""
        x = self.embed(token_ids, first_position)
        return x if block_length == 1 else x + self.block_embedding.weight[self.block_lengths.index(block_length)]

    def hidden(self, memory: Memory, decoder_ids: Tensor, block_length: int) -> Tensor:
        """The decoder's states, blocks seeing all of themselves and of those before: [B, T] -> [B, T, D]."""
        blocks = torch.arange(decoder_ids.shape[1], device=decoder_ids.device) // block_length
        x = self.embed_block(decoder_ids, block_length)
        return self.model.decoder(x, memory, mask=blocks <= blocks[:, None])  # type: ignore[no-any-return]

    def teach(self, memory: Memory, decoder_ids: Tensor, block_length: int) -> Tensor:
        """Their teacher-forced logits: [B, T, V]."""
        return self.logits(self.hidden(memory, decoder_ids, block_length))
