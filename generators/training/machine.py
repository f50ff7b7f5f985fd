"""What an update on a CPU gains from the process it runs in: memory that is kept, and kernels that are kept.

An update takes and gives back the same few hundred megabytes; glibc would return them to the kernel each time, and
every page would have to be cleared again. oneDNN compiles a kernel for each new shape of a product, 1.5 to 2.5 ms each,
some forty shapes a batch, and keeps only the last 1,024.
"""

import ctypes
import os

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # glibc's malloc.h
KEPT_BYTES = 2**31 - 1
KEPT_KERNELS = 16_384  # an epoch of the shipped corpus needs some 10,000


def keep_memory_and_kernels() -> None:
    """To be called before the first product. Without effect where the C library is not glibc."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KEPT_KERNELS))
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(M_TOP_PAD, 64 * 2**20)
