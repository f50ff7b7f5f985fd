"""From a corpus to a trained model: vocabulary, teacher, distilled text, student; each step once, kept in a folder."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from generators.base import Placement
from generators.models.files import build_model, file_hash
from generators.models.marian import Marian
from generators.models.text import Codec, load_codec
from generators.registry import prepare_torch
from generators.training.data import Example, Pair, encode_pairs, join_passages, read_pairs, split_file
from generators.training.evaluate import strategy_for, valid_bleu
from generators.training.export import export, note_start
from generators.training.glancing import ctc_glancing_loss, nat_loss
from generators.training.loop import initialise, train
from generators.training.losses import Loss, ar_loss, cmlm_loss, ctc_loss, semi_loss, without_alignment
from generators.training.recipes import CTC_UPSAMPLING, RECIPES, VOCAB_SIZE, Recipe, Schedule, model_values
from generators.training.reopen import reopen
from generators.training.teacher import teacher_state
from generators.training.vocabulary import train_vocabulary

LOSSES: dict[tuple[str | None, bool], Loss] = {  # by head, and by whether true tokens are shown
    (None, False): ar_loss,
    ("ctc", False): ctc_loss,
    ("ctc", True): ctc_glancing_loss,
    ("cmlm", False): cmlm_loss,
    ("nat", True): nat_loss,
    ("semi", False): semi_loss,
}
VALID_VERSES, VALID_PASSAGES = 250, 30


def run(name: str, corpus: Path, checkpoints: Path, threads: int, device: str, weights: Path | None = None) -> None:
    """Train recipe `name` on `corpus`, distilling its teacher first where that is missing; export the best model.

    With `weights`, a folder of exported models, it goes on from the one there.
    """
    prepare_torch(Placement(device=device, threads=threads))
    recipe, folder = known(name), home_of(corpus, checkpoints)
    if weights is not None:
        reopen(name, weights, corpus, folder)
    pairs = read_pairs(split_file(corpus, "train"))
    codec = vocabulary(pairs, folder)
    parent = teacher_state(folder) if recipe.parent else None
    examples = training_examples(recipe, pairs, codec, folder, threads)
    n_beyond_canvas = without_alignment(examples, CTC_UPSAMPLING) if recipe.head == "ctc" else None
    if n_beyond_canvas:
        speaker(name)(f"{n_beyond_canvas} of {len(examples)} targets are longer than their canvas and teach nothing")
    model = build_model(model_values(recipe, VOCAB_SIZE), Schedule().dropout)
    initialise(model, Schedule().seed, parent)
    valid = valid_pairs(read_pairs(split_file(corpus, "valid")), codec)
    note_start(name, folder / name, threads, device, n_beyond_canvas)
    loss = LOSSES[recipe.head, recipe.glancing]
    train(model.to(device), examples, loss, scorer(codec, valid), Schedule(), folder / name, speaker(name))
    export_best(name, corpus, checkpoints, folder / "models")


def export_best(name: str, corpus: Path, checkpoints: Path, target: Path) -> None:
    """Write the best model so far to `target/name`, finished or not."""
    known(name)
    export(name, corpus, home_of(corpus, checkpoints), target)


def home_of(corpus: Path, checkpoints: Path) -> Path:
    """The folder of all that is trained on `corpus`. Raises ValueError where it is of another text of that name."""
    home = checkpoints / corpus.resolve().name
    found = {split: file_hash(split_file(corpus, split)) for split in ("train", "valid")}
    note = home / "corpus.json"
    if not note.is_file():
        home.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps(found) + "\n", encoding="utf-8")
    if json.loads(note.read_text(encoding="utf-8")) != found:
        raise ValueError(f"{home} was trained on another text than {corpus} has now; name other --checkpoints")
    return home


def known(name: str) -> Recipe:
    if name not in RECIPES:
        raise ValueError(f"unknown model {name!r}; choose from: {', '.join(RECIPES)}")
    return RECIPES[name]


def vocabulary(pairs: list[Pair], folder: Path) -> Codec:
    """The shared sub-word vocabulary of a corpus, trained on both sides of its training text."""
    target = folder / "vocabulary"
    if not (target / "tokenizer_config.json").is_file():  # written last
        train_vocabulary((text for pair in pairs for text in (pair.source, pair.target)), VOCAB_SIZE, target)
    return load_codec(target)


def training_examples(recipe: Recipe, pairs: list[Pair], codec: Codec, folder: Path, threads: int) -> list[Example]:
    """Every line, and passages that join consecutive ones; targets are the teacher's where the recipe is distilled.

    A distilled passage joins the teacher's lines: they are its best work, and a passage then says what its lines say.
    """
    if recipe.distilled:
        from generators.training.distil import distilled

        pairs = distilled(pairs, codec, folder, threads)
    return encode_pairs([*pairs, *join_passages(pairs, codec, Schedule().seed)], codec)


def valid_pairs(pairs: list[Pair], codec: Codec) -> list[Pair]:
    """An even spread of valid lines and passages, by which models are selected."""
    passages = join_passages(pairs, codec, Schedule().seed)
    return [*spread(pairs, VALID_VERSES), *spread(passages, VALID_PASSAGES)]


def spread(pairs: list[Pair], wanted: int) -> list[Pair]:
    return pairs[:: max(1, len(pairs) // wanted)][:wanted]


def scorer(codec: Codec, valid: list[Pair]) -> Callable[[Marian], float]:
    return lambda model: valid_bleu(strategy_for(model, codec), codec, valid)


def speaker(name: str) -> Callable[[str], None]:
    return lambda line: print(f"{name}: {line}", file=sys.stderr, flush=True)
