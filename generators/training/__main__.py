"""`python -m generators.training MODEL`: train one of the recipes, or go on where it was stopped."""

import argparse
import sys
from pathlib import Path

from generators.training.machine import keep_memory_and_kernels

HERE = Path(__file__).parent


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    from generators.training.pipeline import export_best, run

    corpus, checkpoints = Path(options.corpus), Path(options.checkpoints)
    try:
        if options.export:
            export_best(options.model, corpus, checkpoints, Path(options.export))
        else:
            weights = Path(options.reopen) if options.reopen else None
            run(options.model, corpus, checkpoints, options.threads, options.device, weights)
    except (OSError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train: interrupted; the same command goes on from the last evaluation", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="python -m generators.training", description=__doc__)
    result.add_argument("model", help="a recipe: ar, ar_student, ar_shallow, ctc, cmlm, …")
    result.add_argument(
        "--corpus",
        default=str(HERE / "corpora" / "bible-kjv-web"),
        help="folder with train.tsv[.gz] and valid.tsv[.gz]",
    )
    result.add_argument(
        "--checkpoints", default="checkpoints", help="folder for what a resume needs (default: checkpoints)"
    )
    result.add_argument(
        "--reopen", metavar="DIR", help="no checkpoint is left: go on from the exported model in DIR/MODEL"
    )
    result.add_argument("--export", metavar="DIR", help="train nothing; write the best model so far to DIR/MODEL")
    result.add_argument("--threads", type=int, default=2)
    result.add_argument("--device", default="cpu")
    return result


if __name__ == "__main__":
    keep_memory_and_kernels()
    sys.exit(main())
