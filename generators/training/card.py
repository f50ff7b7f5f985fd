"""The model card: what the shipped models are, rendered from the manifest so that it cannot drift from it."""

from typing import Any

CARD = """# Model card

Small Marian encoder-decoders (d = 256, 4 heads, ffn 1024, one shared sub-word vocabulary of 4,000 ids) that rewrite
King James English as modern English, in half-precision safetensors. `MANIFEST.json` beside this card has for each
the command, the commits, the hashes of its data and files, the whole schedule and the curve of valid BLEU; this
card is rendered from it.

{table}

- *Starts from*: the teacher's weights wherever name and shape agree, else random ones. *Text*: the corpus's own
  target, or the teacher's beam-4 output (Kim & Rush 2016). Single verses and joined passages up to 200 tokens, half
  and half by tokens.
- *Valid BLEU*: sacreBLEU on 250 verses and 30 passages of the valid set, of the mean of the last {averaged}
  checkpoints, decoded greedily (`ar*`), in one pass (`ctc*`), or by four iterations at length beam 3 (`cmlm*`). The
  best of its curve is shipped.
- *Ended by*: `cap` is {max_updates:,} updates, `patience` no rise of valid BLEU for {patience_updates:,}.
  `interrupted` means that neither rule has been reached: the model is not trained to its end, and a quality bar it
  misses is not the strategy's.
{beyond}- All models of the table share batch size ({batch_tokens:,} target tokens an update), optimiser, learning rate,
  dropout and selection. The rate rises for {warmup_updates:,} updates, falls with their square root, and is halved
  whenever valid BLEU has not risen for {halve_after_updates:,}: a rule from the start or resume that first names it in
  `MANIFEST.json`, as the models were in training already.

Intended for measuring decoding strategies. Not a translation product: the domain is one book, its language archaic.
Licence Apache-2.0; the text is public domain (see `generators/training/corpora/README.md`).
"""

HEADS = (
    "model",
    "layers",
    "head",
    "starts from",
    "text",
    "parameters",
    "peak learning rate",
    "updates",
    "minutes",
    "best valid BLEU",
    "ended by",
)
BEYOND = "- *Beyond the canvas*: training targets longer than twice their source, which teach nothing: {counts}.\n"


def model_card(accounts: dict[str, Any]) -> str:
    """The card's Markdown for the manifest's accounts."""
    rows = [HEADS, ("---",) * len(HEADS), *(row(name, accounts[name]) for name in sorted(accounts))]
    schedule = accounts[sorted(accounts)[0]]["starts"][-1]["schedule"]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    return CARD.format(table=table, beyond=beyond_canvas(accounts), **schedule)


def beyond_canvas(accounts: dict[str, Any]) -> str:
    """A line on the targets that no canvas holds; none where no account has counted them."""
    counted = {name: accounts[name]["starts"][-1].get("targets_beyond_canvas") for name in sorted(accounts)}
    told = [f"`{name}` {n:,}" for name, n in counted.items() if n is not None]
    return BEYOND.format(counts=", ".join(told)) if told else ""


def row(name: str, account: dict[str, Any]) -> tuple[str, ...]:
    recipe = account["starts"][-1]["recipe"]
    rates = list(dict.fromkeys(f"{start['schedule']['peak_learning_rate']:g}" for start in account["starts"]))
    return (
        f"`{name}`",
        f"{recipe['encoder_layers']} + {recipe['decoder_layers']}",
        recipe["head"] or "autoregressive",
        f"`{recipe['parent']}`" if recipe["parent"] else "random",
        "distilled" if recipe["distilled"] else "original",
        f"{account['parameters']:,}",
        ", then ".join(rates),
        f"{account['updates']:,}",
        f"{account['minutes']:.0f}",
        f"{account['best_valid_bleu']:.2f} at {account['best_update']:,}",
        account["stopped_by"],
    )
