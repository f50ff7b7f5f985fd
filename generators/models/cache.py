"""Keys and values of the positions a causal decoder has computed, kept for the positions to come.

Dims: B rows, H heads, T new positions, L positions so far, D width.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from generators.models.marian import MarianConfig


class Cache:
    """Buffers as long as the answer may get; all rows grow together."""

    def __init__(self, config: "MarianConfig", batch_size: int, max_length: int, like: Tensor) -> None:
        self.n_heads = config.decoder_attention_heads
        shape = (2, batch_size * self.n_heads, max_length, config.d_model // self.n_heads)
        self.buffer = like.new_empty(config.decoder_layers, *shape)
        self.layers = self.buffer.unbind(0)  # a layer's keys and values: [2, B * H, max_length, D/H]
        self.batch_size = batch_size
        self.length = 0  # positions filled

    def append(self, layer: int, new: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values so far, new ones [2, B * H, T, D/H] behind the old: [B * H, length + T, D/H] twice."""
        n_positions = new.shape[2]
        self.layers[layer].narrow(2, self.length, n_positions).copy_(new)
        keys, values = self.layers[layer].narrow(2, 0, self.length + n_positions).unbind(0)
        return keys, values

    def advance(self, n_positions: int) -> None:
        """Move on by the positions of a call; the decoder does so after each."""
        self.length += n_positions

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue what row rows[i] held (beam search)."""
        filled = self.buffer.unflatten(2, (self.batch_size, -1))[:, :, :, :, : self.length]
        filled.copy_(filled[:, :, rows])


class RaggedCache(Cache):
    """A cache whose rows stand at different lengths; to set `lengths` back is to forget what came after.

    Before each call of the decoder, `place` says where its positions stand.
    """

    def __init__(self, config: "MarianConfig", batch_size: int, max_length: int, like: Tensor) -> None:
        super().__init__(config, batch_size, max_length, like)
        self.buffer.zero_()  # places not yet written are read, though they weigh nothing: they must not be NaN
        self.lengths = [0] * batch_size

    def place(self, n_positions: int) -> tuple[Tensor, Tensor | None]:
        """Where each row's next positions stand [B, T], and what they may see [B, 1, T, L], None where that is all."""
        device = self.buffer.device
        places = torch.tensor(self.lengths, device=device)[:, None] + torch.arange(n_positions, device=device)
        self.length = max(self.lengths)
        self.targets = places.repeat_interleave(self.n_heads, dim=0)[:, :, None]  # [B * H, T, 1]
        if n_positions == 1 and min(self.lengths) == self.length:
            return places, None
        seen = torch.arange(self.length + n_positions, device=device) <= places[:, :, None]
        return places, seen[:, None]

    def append(self, layer: int, new: Tensor) -> tuple[Tensor, Tensor]:
        """As above, up to the longest row's end; a shorter row's places behind its own end hold anything."""
        self.layers[layer].scatter_(2, self.targets.expand_as(new), new)
        keys, values = self.layers[layer].narrow(2, 0, self.length + new.shape[2]).unbind(0)
        return keys, values

    def advance(self, n_positions: int) -> None:
        self.lengths = [length + n_positions for length in self.lengths]
