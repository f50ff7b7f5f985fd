"""A parallel model whose passes ONNX Runtime computes, in float32 or int8: what CTranslate2 is to the AR models.

https://onnxruntime.ai; int8 is its dynamic quantisation, weights a channel, activations as they come. Two graphs are
exported on first use: source embeddings to memory, canvas and memory to logits. What lies between, the canvas or the
length, is small and stays in torch.

Dims: B rows, S source positions, T target positions, D width, H heads, V vocabulary.
"""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from generators.base import Placement, Unsupported
from generators.models import layers, marian
from generators.models.conversions import kept
from generators.models.files import WEIGHTS, load_model
from generators.models.marian import Marian, Memory

TORCH, _, INT8 = ENGINES = ("torch", "onnx", "onnx_int8")
ENCODER, DECODER = GRAPHS = ("encoder.onnx", "decoder.onnx")
OPSET = 17

M = TypeVar("M", bound=Marian)


def check_engine(engine: str) -> None:
    """Raise ValueError for an engine that is none of `ENGINES`."""
    if engine not in ENGINES:
        raise ValueError(f"unknown engine {engine!r}; choose from: {', '.join(ENGINES)}")


def load_on(engine: str, folder: Path, kind: type[M], placement: Placement) -> M:
    """As `load_model`, its passes computed by `engine`; `onnx` is float32 and `onnx_int8` int8, whatever the placement.

    Raises ImportError where ONNX Runtime is not installed, Unsupported off the CPU.
    """
    if engine == TORCH:
        return load_model(folder, kind, device=placement.device, dtype=placement.dtype)
    if placement.device != "cpu":
        raise Unsupported(f"engine={engine} runs on a CPU alone")
    import onnxruntime

    model = load_model(folder, kind)
    code = [Path(str(module.__file__)) for module in (layers, marian)]
    made_of = [folder / WEIGHTS, folder / "config.json", *code, Path(__file__)]
    graphs = kept(engine, made_of, lambda target: export(model, target, quantised=engine == INT8))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = placement.threads, 1
    encoder, decoder = (
        onnxruntime.InferenceSession(graphs / name, options, providers=["CPUExecutionProvider"]) for name in GRAPHS
    )
    backbone: Any = model.model
    backbone.encoder = GraphEncoder(encoder, alone=engine == INT8)
    backbone.decoder = GraphDecoder(decoder, alone=engine == INT8)
    model.__class__ = type(f"Onnx{kind.__name__}", (OnnxPasses, kind), {})  # the same model but for two methods
    return model


class OnnxPasses(Marian):
    """What changes in a model whose encoder and decoder are graphs."""

    def encode(self, source_ids: Tensor, real: Tensor | None = None) -> Memory:
        real = source_ids != self.config.pad_token_id if real is None else real
        mask = real[:, None, None, :]
        states, *flat = self.model.encoder(self.embed(source_ids), mask)
        return Memory(states, list(zip(flat[::2], flat[1::2], strict=True)), None if bool(real.all()) else mask)

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden  # the decoder's graph ends with them


class Graph(nn.Module):
    """A session in the encoder's or the decoder's place, so that hooks see its passes as they see torch's.

    Dynamic quantisation takes one scale for all of a tensor. `alone`, each row is therefore given to the session by
    itself and without its padding, and does not depend on its neighbours.
    """

    def __init__(self, session: Any, *, alone: bool) -> None:
        super().__init__()
        self.session, self.alone = session, alone
        self.names = [given.name for given in session.get_inputs()]

    def run(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        arrays = (value.numpy() for value in inputs)
        return [torch.from_numpy(value) for value in self.session.run(None, dict(zip(self.names, arrays, strict=True)))]


class GraphEncoder(Graph):
    """Embeddings [B, S, D] and mask [B, 1, 1, S] to states [B, S, D], and keys and values [B, H, S, D/H] a layer."""

    def forward(self, x: Tensor, mask: Tensor) -> list[Tensor]:
        if not self.alone or len(x) == 1:
            return self.run([x, mask])
        sizes = mask.sum(-1).flatten().tolist()
        rows = [self.run([x[[i], :n], mask[[i], ..., :n]]) for i, n in enumerate(sizes)]
        return [beside(parts, x.shape[1]) for parts in zip(*rows, strict=True)]


class GraphDecoder(Graph):
    """Canvas [B, T, D] and memory to logits [B, T, V]."""

    def forward(self, x: Tensor, memory: Memory, *, mask: Tensor | None = None) -> Tensor:
        own = x.new_ones(len(x), 1, 1, x.shape[1], dtype=torch.bool) if mask is None else mask
        source = memory.mask
        source = x.new_ones(len(x), 1, 1, memory.states.shape[1], dtype=torch.bool) if source is None else source
        flat = [part for pair in memory.keys_values for part in pair]
        if not self.alone or len(x) == 1:
            return self.run([x, own, source, *flat])[0]
        sizes = zip(own.sum(-1).flatten().tolist(), source.sum(-1).flatten().tolist(), strict=True)
        rows = [
            self.run([x[[i], :n], own[[i], ..., :n], source[[i], ..., :s], *(part[[i], :, :s] for part in flat)])[0]
            for i, (n, s) in enumerate(sizes)
        ]
        return beside(rows, x.shape[1])


def beside(rows: Sequence[Tensor], longest: int) -> Tensor:
    """Rows [1, …, T, D] of several T as one tensor [B, …, longest, D], zeros behind each."""
    return torch.cat([nn.functional.pad(row, (0, 0, 0, longest - row.shape[-2])) for row in rows])


class ToMemory(nn.Module):
    """The encoder's graph."""

    def __init__(self, model: Marian) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        states = self.model.model.encoder(x, mask)
        layers = cast(Sequence[marian.DecoderLayer], self.model.model.decoder.layers)
        return states, *(part for layer in layers for part in layer.encoder_attn.keys_values(states))


class ToLogits(ToMemory):
    """The decoder's graph."""

    def forward(self, x: Tensor, mask: Tensor, *memory: Tensor) -> Tensor:  # type: ignore[override]
        source, *flat = memory
        known = Memory(x, list(zip(flat[::2], flat[1::2], strict=True)), source)
        return self.model.logits(self.model.model.decoder(x, known, mask=mask))


def export(model: Marian, target: Path, *, quantised: bool) -> None:
    """Write both graphs of `model` into the new folder `target`, for any number of rows and positions."""
    target.mkdir()
    shape = model.config
    n_rows, n_source, n_target = 2, 5, 7  # of the examples that are traced
    states, x = torch.randn(n_rows, n_source, shape.d_model), torch.randn(n_rows, n_target, shape.d_model)
    source, own = torch.ones(n_rows, 1, 1, n_source).bool(), torch.ones(n_rows, 1, 1, n_target).bool()
    with torch.no_grad():
        flat = ToMemory(model)(states, source)[1:]
    names = [f"{kind}_{layer}" for layer in range(shape.decoder_layers) for kind in ("keys", "values")]
    of_source = {"source": {0: "B", 3: "S"}, **{name: {0: "B", 2: "S"} for name in names}}
    export_one(
        ToMemory(model), (states, source), target / ENCODER, ["x", "source"], ["states", *names],
        {"x": {0: "B", 1: "S"}, "states": {0: "B", 1: "S"}, **of_source},
    )  # fmt: skip
    export_one(
        ToLogits(model), (x, own, source, *flat), target / DECODER, ["x", "own", "source", *names], ["logits"],
        {"x": {0: "B", 1: "T"}, "own": {0: "B", 3: "T"}, "logits": {0: "B", 1: "T"}, **of_source},
    )  # fmt: skip
    if quantised:
        quantise(target)


def export_one(
    module: nn.Module,
    examples: tuple[Tensor, ...],
    path: Path,
    inputs: list[str],
    outputs: list[str],
    axes: dict[str, dict[int, str]],
) -> None:
    """Trace `module` with the older of torch's two exporters: faster graphs, in a second instead of twenty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is the older one, and that shapes might be constants
        torch.onnx.export(
            module.eval(), examples, path, dynamo=False, opset_version=OPSET, input_names=inputs, output_names=outputs,
            dynamic_axes=axes,
        )  # fmt: skip


def quantise(folder: Path) -> None:
    """Replace the graphs in `folder` by those with int8 weights."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # its advice to prepare convolutions first
    try:
        for name in GRAPHS:
            quantize_dynamic(folder / name, folder / f"int8-{name}", weight_type=QuantType.QInt8, per_channel=True)
            (folder / f"int8-{name}").replace(folder / name)
    finally:
        logging.disable(before)
