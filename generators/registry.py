"""Every strategy by name, and how a person names an entry in the race: `STRATEGY[:knob=value]*`.

`mask_predict:n_iterations=10:weights=cmlm` is that strategy with two knobs set. All have `weights` (a shipped model, a
folder, a name on the model hub), `dtype` and `threads` (else the run's). Nothing here imports torch before `build`.
"""

import dataclasses
import importlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from generators.base import Generator, Placement
from generators.models.text import Codec

Cache = Literal["none", "exact", "approximate"]
SHIPPED = Path(__file__).parent / "weights"
COMMON = ("weights", "dtype", "threads")  # knobs of every strategy
UNSHIPPED = ("nat", "semi_ar", "ar_draft", "ctc_glancing")  # names of recipes whose weights do not lie there yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    summary: str
    paper: str
    implementation: str  # "module:class", imported when built
    weights: str  # the shipped model it runs on unless told otherwise
    cache: Cache = "none"


STRATEGIES = {
    "ar": Strategy(
        summary="token by token, with a key-value cache; greedy, sampled or beam",
        paper="https://arxiv.org/abs/1409.3215",
        implementation="generators.strategies.ar:Autoregressive",
        weights="ar_student",
        cache="exact",
    ),
    "ar_uncached": Strategy(
        summary="token by token, every position computed again at every step",
        paper="https://arxiv.org/abs/1409.3215",
        implementation="generators.strategies.ar_uncached:UncachedAutoregressive",
        weights="ar_student",
    ),
    "ctc": Strategy(
        summary="one-shot: one pass over a canvas twice the source, then merge and drop blanks",
        paper="https://arxiv.org/abs/1811.04719",
        implementation="generators.strategies.ctc:Ctc",
        weights="ctc",
    ),
    "mask_predict": Strategy(
        summary="a constant number of passes, the least sure tokens masked again after each",
        paper="https://arxiv.org/abs/1904.09324",
        implementation="generators.strategies.mask_predict:MaskPredict",
        weights="cmlm",
    ),
    "nat": Strategy(
        summary="one-shot: predicts the length, then every token by itself in one pass; a few lengths compete",
        paper="https://arxiv.org/abs/2008.07905",
        implementation="generators.strategies.nat:Nat",
        weights="nat",
    ),
    "semi_ar": Strategy(
        summary="left to right, a block of tokens a pass, with a key-value cache",
        paper="https://arxiv.org/abs/1808.08583",
        implementation="generators.strategies.semi_ar:SemiAutoregressive",
        weights="semi_ar",
        cache="exact",
    ),
    "speculative": Strategy(
        summary="drafts a few tokens cheaply and verifies them in one pass; writes what ar writes",
        paper="https://arxiv.org/abs/2211.17192",
        implementation="generators.strategies.speculative:Speculative",
        weights="ar_student",
        cache="exact",
    ),
    "teacher_forcing": Strategy(
        summary="one scoring pass over given tokens: it writes nothing and is the floor under every one-shot",
        paper="https://doi.org/10.1162/neco.1989.1.2.270",
        implementation="generators.strategies.teacher_forcing:TeacherForcing",
        weights="ar_student",
    ),
    "copy": Strategy(
        summary="output = source: what a rewriting model must beat",
        paper="none",
        implementation="generators.strategies.copy:Copy",
        weights="ar_student",
    ),
    "hf_generate": Strategy(
        summary="token by token by transformers' own generate, on the same weights",
        paper="https://arxiv.org/abs/1910.03771",
        implementation="generators.strategies.hf_generate:HfGenerate",
        weights="ar_student",
        cache="exact",
    ),
    "ctranslate2": Strategy(
        summary="token by token by the CTranslate2 engine, on the same weights; float32 or int8",
        paper="https://github.com/OpenNMT/CTranslate2",
        implementation="generators.strategies.ctranslate2:CTranslate2",
        weights="ar_student",
        cache="exact",
    ),
}


@dataclass(frozen=True, slots=True)
class Spec:
    """One entry in the race, as named by a person."""

    label: str
    strategy: str
    knobs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A strategy with its weights in place."""

    generator: Generator
    codec: Codec
    config: dict[str, Any]  # every knob as resolved, `weights` among them
    weights_sha256: str  # a drafter's or scorer's behind it, joined by +
    cache: Cache
    threads: int | None = None  # torch's, while it runs; None where torch has no part in it

    def take_over(self) -> None:
        """Give torch this strategy's threads: to be called before it is timed, where others may have run."""
        if self.threads is not None:
            import torch

            torch.set_num_threads(self.threads)


def parse(text: str) -> Spec:
    """The entry that `text` names. Raises ValueError for an unknown strategy or a knob without a value."""
    name, *settings = text.split(":")
    if name not in STRATEGIES:
        raise ValueError(f"unknown strategy {name!r}; choose from: {', '.join(STRATEGIES)}")
    knobs: dict[str, str] = {}
    for setting in settings:
        knob, equals, value = setting.partition("=")
        if not knob or not equals or not value or knob in knobs:
            raise ValueError(f"in {text!r}, {setting!r} is not a new knob=value")
        knobs[knob] = value
    return Spec(text, name, knobs)


def build(spec: Spec, placement: Placement | None = None) -> Loaded:
    """The strategy, loaded. Raises ValueError for a bad knob or bad weights, ImportError for a missing engine."""
    placement, own = own_placement(spec, placement or Placement())
    prepare_torch(placement)
    strategy = STRATEGIES[spec.strategy]
    module, _, name = strategy.implementation.partition(":")
    implementation = getattr(importlib.import_module(module), name)
    config = resolve(spec, implementation.config_type)
    weights = spec.knobs.get("weights", strategy.weights)
    folder = find_weights(weights)
    others = [find_weights(name) for name in getattr(config, "other_weights", ())]
    weights_sha256 = "+".join(map(verified, [folder, *others]))
    generator, codec = implementation.load(folder, config, placement)
    return Loaded(
        generator=generator,
        codec=codec,
        config={**dataclasses.asdict(config), "weights": weights, **own},
        weights_sha256=weights_sha256,
        cache=strategy.cache,
        threads=placement.threads,
    )


def own_placement(spec: Spec, placement: Placement) -> tuple[Placement, dict[str, Any]]:
    """The placement with what the entry says of its own; and that alone. Raises ValueError for bad values."""
    own: dict[str, Any] = {knob: spec.knobs[knob] for knob in ("dtype", "threads") if knob in spec.knobs}
    if not own.get("threads", "1").isdecimal():
        raise ValueError(f"knob threads of {spec.strategy} wants int, got {own['threads']!r}")
    own |= {"threads": int(own["threads"])} if "threads" in own else {}
    return dataclasses.replace(placement, **own), own


def prepare_torch(placement: Placement) -> None:
    """Set torch's threads. Raises ValueError for a device that is not here."""
    import torch

    try:
        torch.empty(0, device=placement.device)
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"device {placement.device!r} cannot be used here: {reason}") from None
    torch.set_num_threads(placement.threads)


def resolve(spec: Spec, config_type: type) -> Any:
    """The strategy's config with its knobs set, each read as the type of its default."""
    fields = {field.name: field for field in dataclasses.fields(config_type)}
    values = {}
    for knob, text in spec.knobs.items():
        if knob in COMMON:
            continue
        if knob not in fields:
            raise ValueError(f"unknown knob {knob!r} of {spec.strategy}; choose from: {', '.join([*COMMON, *fields])}")
        kind: Callable[[str], Any] = type(fields[knob].default)
        try:
            values[knob] = kind(text)
        except ValueError:
            raise ValueError(f"knob {knob} of {spec.strategy} wants {kind.__name__}, got {text!r}") from None
    return config_type(**values)


def find_weights(name: str) -> Path:
    """The folder of a shipped model, a user's folder, or a hub model fetched into the hub's own cache."""
    for folder in (SHIPPED / name, Path(name)):
        if (folder / "config.json").is_file():
            return folder
    if name in UNSHIPPED:
        train = f"python -m generators.training {name}"
        raise ValueError(f"weights {name!r} are not shipped yet; train them ({train}) and name their folder instead")
    shipped = ", ".join(sorted(path.parent.name for path in SHIPPED.glob("*/config.json"))) or "none"
    wrong = f"no weights {name!r}: not shipped ({shipped}), no model folder"
    if not re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", name) or Path(name).exists():
        raise ValueError(f"{wrong}, no hub name (owner/model)")
    return fetch(name, wrong)


def fetch(name: str, wrong: str) -> Path:
    """A hub model's files in the hub's own cache; raises ValueError that begins with `wrong` where there are none."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.spm", "model.safetensors"]))
    except (HFValidationError, HfHubHTTPError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{wrong}, not on the hub ({reason})") from None


def verified(folder: Path) -> str:
    """The sha256 of a folder's weights. Raises ValueError where a manifest beside the folder disagrees."""
    from generators.models.files import WEIGHTS, file_hash

    if not (folder / WEIGHTS).is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}; weights are loaded from safetensors only")
    manifest = folder.parent / "MANIFEST.json"
    accounts = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
    for name, wanted in accounts.get(folder.name, {}).get("files_sha256", {}).items():
        if not (folder / name).is_file() or file_hash(folder / name) != wanted:
            raise ValueError(f"{folder / name} is not the file that {manifest} was written for; restore it")
    return file_hash(folder / WEIGHTS)
