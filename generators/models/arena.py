"""Weights side by side in the order in which a step reads them, on huge pages where the kernel has them.

A cached step streams every weight once. Spread over 4 KB pages by the allocator, how fast that goes hangs on where the
pages happen to lie, and differs from process to process.
"""

import mmap
from collections.abc import Sequence
from contextlib import suppress

import torch
from torch import Tensor

ALIGNMENT = 64  # bytes of a cache line, and of the widest vector register
HUGE_PAGE = 2 << 20  # bytes


def side_by_side(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors, contiguous: on a CPU as copies in one block, on an accelerator each where its allocator puts it."""
    if any(tensor.device.type != "cpu" for tensor in tensors):
        return [tensor.contiguous() for tensor in tensors]
    sizes = [-(-tensor.nbytes // ALIGNMENT) * ALIGNMENT for tensor in tensors]
    parts = block(sum(sizes)).split(sizes)
    copies = [part[: old.nbytes].view(old.dtype).view(old.shape) for part, old in zip(parts, tensors, strict=True)]
    for copy, old in zip(copies, tensors, strict=True):
        copy.copy_(old)
    return copies


def block(n_bytes: int) -> Tensor:
    """Uninitialised bytes that begin at a huge page; on ordinary pages where the system grants no others."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.empty(n_bytes, dtype=torch.uint8)
    pages = mmap.mmap(-1, n_bytes + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel built without them
        pages.madvise(mmap.MADV_HUGEPAGE)
    whole = torch.frombuffer(pages, dtype=torch.uint8)  # keeps the mapping alive
    return whole[-whole.data_ptr() % HUGE_PAGE :][:n_bytes]
