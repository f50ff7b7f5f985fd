"""How fast the machine moves and computes, on plain kernels: a roofline's two roofs, taken at the start of a run."""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from suites.contestants import Contestant
from suites.records import Bandwidth, MachineSpeed

if TYPE_CHECKING:
    import torch

WORKING_SETS = tuple(2**i for i in range(19, 28))  # 0.5 to 128 MB: below the smallest step's, beyond any cache's
WIDTH = 1024
AT_LEAST_S, AT_LEAST = 0.02, 3  # so long and so often is a kernel tried; the best counts, since it is a ceiling


def shapes(contestants: Iterable[Contestant], dtype: str) -> dict[str, dict[str, int]]:
    """The shape of each loaded contestant that names its weights, by label; an engine may have its own dtype."""
    from generators.shape import shape_of

    named = ((c.label, c.config) for c in contestants if c.loaded and "weights" in c.config and _has_roofs(c.config))
    return {label: shape_of(config["weights"], config.get("compute_type", dtype)) for label, config in named}


def _has_roofs(config: dict[str, Any]) -> bool:
    """False for int8 passes and for a data type or threads of one's own: what is measured here is no roof over them."""
    return config.get("engine") != "onnx_int8" and not config.keys() & {"dtype", "threads"}


def machine_speed(device: str, dtype: str, synchronize: Callable[[], None]) -> MachineSpeed:
    """The bandwidth of reading a matrix for a product with one vector, by the matrix's size; the FLOP/s of a product
    of two square matrices in `dtype`. About a second.

    torch's threads must be set. Sizes that do not fit into memory are left out, all but the smallest.
    """
    import torch

    bandwidths: list[Bandwidth] = []
    for size in WORKING_SETS:
        try:
            seconds = _reading_s(torch.ones(size // 4 // WIDTH, WIDTH, device=device), synchronize)
        except RuntimeError:  # torch's word for too little memory
            if not bandwidths:
                raise
            break
        bandwidths.append(Bandwidth(working_set_bytes=size, bytes_per_s=size / seconds))
    side = 512 if device == "cpu" else 4096
    flop_per_s = _flop_per_s(torch.ones(side, side, device=device, dtype=getattr(torch, dtype)), synchronize)
    return MachineSpeed(bandwidths=tuple(bandwidths), flop_per_s=flop_per_s)


def _reading_s(matrix: "torch.Tensor", synchronize: Callable[[], None]) -> float:
    vector = matrix[0].clone()
    return best_s(lambda: matrix.mv(vector), synchronize)


def _flop_per_s(matrix: "torch.Tensor", synchronize: Callable[[], None]) -> float:
    return 2.0 * len(matrix) ** 3 / best_s(lambda: matrix @ matrix, synchronize)


def best_s(kernel: Callable[[], object], synchronize: Callable[[], None]) -> float:
    """The fewest seconds of a call, of at least three that take at least 20 ms together; the first is not counted."""
    kernel()
    seconds: list[float] = []
    while len(seconds) < AT_LEAST or sum(seconds) < AT_LEAST_S:
        synchronize()
        began_s = perf_counter()
        kernel()
        synchronize()
        seconds.append(perf_counter() - began_s)
    return min(seconds)
