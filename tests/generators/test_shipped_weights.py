"""What the manifest says of the shipped models is so."""

import json

import pytest

from generators.models.files import file_hash
from generators.registry import SHIPPED, STRATEGIES, UNSHIPPED
from generators.training.card import model_card
from generators.training.recipes import RECIPES

ACCOUNTS = json.loads((SHIPPED / "MANIFEST.json").read_text(encoding="utf-8"))


def test_every_default_model_is_shipped_and_accounted_for_or_named_as_missing() -> None:
    assert {strategy.weights for strategy in STRATEGIES.values()} <= {*ACCOUNTS, *UNSHIPPED}
    assert not set(ACCOUNTS) & set(UNSHIPPED), "shipped by now: take it out of UNSHIPPED"
    assert set(UNSHIPPED) <= set(RECIPES)
    assert {path.parent.name for path in SHIPPED.glob("*/config.json")} == set(ACCOUNTS)


@pytest.mark.parametrize("name", ACCOUNTS)
def test_a_model_is_the_one_its_account_describes_and_at_most_15_mb(name: str) -> None:
    files = {path.name: file_hash(path) for path in (SHIPPED / name).iterdir()}
    assert files == ACCOUNTS[name]["files_sha256"]
    assert sum(path.stat().st_size for path in (SHIPPED / name).iterdir()) <= 15_000_000


def test_all_models_were_trained_by_the_same_rules_on_the_same_text() -> None:
    """As noted at every start; the teacher's learning rate was raised, and plateaus came to halve it: see the card."""
    changed = {"peak_learning_rate", "halve_after_updates"}
    rules = [
        {rule: value for rule, value in start["schedule"].items() if rule not in changed}
        for account in ACCOUNTS.values()
        for start in account["starts"]
    ]
    assert all(one == rules[0] for one in rules)
    last = [account["starts"][-1]["schedule"] for account in ACCOUNTS.values()]
    assert all(one == last[0] for one in last)  # to the end, all kept the same
    assert len({json.dumps(account["data_sha256"]) for account in ACCOUNTS.values()}) == 1
    students = [account for name, account in ACCOUNTS.items() if name != "ar"]
    for shared in ("distilled_sha256", "teacher_update"):
        assert len({account[shared] for account in students}) == 1
    rates = {start["schedule"]["peak_learning_rate"] for account in students for start in account["starts"]}
    assert len(rates) == 1


def test_every_student_starts_from_the_teacher_and_only_the_teacher_from_random_weights() -> None:
    parents = {name: {start["recipe"]["parent"] for start in account["starts"]} for name, account in ACCOUNTS.items()}
    assert parents == {name: {None if name == "ar" else "ar"} for name in ACCOUNTS}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_the_rule_that_ended_a_training_is_the_one_its_curve_shows(name: str) -> None:
    account = ACCOUNTS[name]
    schedule, curve = account["starts"][-1]["schedule"], account["valid_bleu_curve"]
    best_update, best = max(curve, key=lambda point: (point[1], -point[0]))
    assert (account["best_update"], account["best_valid_bleu"]) == (best_update, round(best, 2))
    ended = {
        "cap": account["updates"] >= schedule["max_updates"],
        "patience": account["updates"] - best_update >= schedule["patience_updates"],
        "interrupted": account["updates"] < schedule["max_updates"]
        and account["updates"] - best_update < schedule["patience_updates"],
    }
    assert ended[account["stopped_by"]]


def test_the_card_is_rendered_from_the_manifest() -> None:
    assert (SHIPPED / "MODEL_CARD.md").read_text(encoding="utf-8") == model_card(ACCOUNTS)
