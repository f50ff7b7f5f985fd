"""One shared sub-word vocabulary in Marian's files: `source.spm`, `target.spm`, `vocab.json`.

Unigram language model (Kudo 2018, https://arxiv.org/abs/1804.10959) trained by sentencepiece on both sides of the
training text. Ids follow Marian's files: EOS 0, unknown 1, the pieces, padding last. One id more, before the padding,
serves the parallel models: the mask of mask-predict and the blank of CTC, which no text ever encodes to.
"""

import io
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import sentencepiece

EOS, UNKNOWN, MASK, PAD = "</s>", "<unk>", "<mask>", "<pad>"


def train_vocabulary(lines: Iterable[str], vocab_size: int, folder: Path) -> None:
    """Write the tokenizer's files to `folder`; `vocab_size` counts every id, special ones included.

    Raises ValueError where the text is too little for so many pieces.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = io.BytesIO()
    train_pieces(lines, vocab_size, model)
    (folder / "source.spm").write_bytes(model.getvalue())
    shutil.copyfile(folder / "source.spm", folder / "target.spm")
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [*(processor.id_to_piece(i) for i in range(processor.get_piece_size())), MASK, PAD]
    write_json(folder / "vocab.json", {piece: index for index, piece in enumerate(pieces)})
    special = {
        "eos_token": EOS,
        "unk_token": UNKNOWN,
        "pad_token": PAD,
        "separate_vocabs": False,
        "model_max_length": 512,
    }
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "MarianTokenizer", **special})


def train_pieces(lines: Iterable[str], vocab_size: int, model: io.BytesIO) -> None:
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=model, model_type="unigram", vocab_size=vocab_size - 2,
            bos_id=-1, eos_id=0, unk_id=1, pad_id=-1, eos_piece=EOS, unk_piece=UNKNOWN,
            character_coverage=1.0, normalization_rule_name="nmt_nfkc", minloglevel=1, num_threads=1,
        )  # fmt: skip
    except RuntimeError as error:
        raise ValueError(f"no vocabulary of {vocab_size} ids can be made of this text: {error}") from None


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
