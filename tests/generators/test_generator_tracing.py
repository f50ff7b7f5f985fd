"""A trace says when each token came to stand, for every kind of decoding: the frames here are worked out by hand."""

from generators.base import Exact, Frame, Natural, Phase, Slot, SlotState
from generators.models.text import MarianCodec
from generators.strategies.ar import ArConfig, Autoregressive
from generators.strategies.ctc import Ctc, survivors
from generators.strategies.mask_predict import MaskPredict, MaskPredictConfig
from generators.tracing import committed_at, grown, settled, slots
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import tiny_model

MASKED, TENTATIVE, FINAL = SlotState.MASKED, SlotState.TENTATIVE, SlotState.FINAL
SIGNS = {MASKED: "m", TENTATIVE: "t", FINAL: "f"}
NONE = 99  # the mask's id


def frame(step: int, *places: tuple[int, int, SlotState]) -> Frame:
    return Frame(step, tuple(Slot(*place) for place in places))


def signs(frames: tuple[Frame, ...]) -> list[str]:
    return ["".join(SIGNS[slot.state] for slot in one.slots) for one in frames]


def test_a_row_that_grows_commits_a_token_a_step() -> None:
    frames = settled(grown([7, 8, 9], first_step=1), (7, 8, 9))
    assert signs(frames) == ["f", "ff", "fff"]
    assert committed_at(frames) == (1, 2, 3)


def test_the_end_of_a_row_is_a_step_but_no_token() -> None:
    frames = settled(grown([7, 8, 0], first_step=1), (7, 8))
    assert [one.step for one in frames] == [1, 2, 3]
    assert signs(frames) == ["f", "ff", "ff"]
    assert committed_at(frames) == (1, 2)


def test_what_a_stop_string_takes_back_was_never_final() -> None:
    frames = settled(grown([7, 8, 9], first_step=1), (7,))
    assert signs(frames) == ["f", "ft", "f"]
    assert committed_at(frames) == (1,)


def test_a_token_masked_again_is_final_only_from_its_last_filling() -> None:
    canvases = [[NONE, NONE, NONE], [4, NONE, 6], [NONE, 5, 6], [4, 5, 6]]
    frames = settled([Frame(i, slots(c, FINAL, masked_id=NONE)) for i, c in enumerate(canvases)], (4, 5, 6))
    assert signs(frames) == ["mmm", "tmf", "mff", "fff"]
    assert committed_at(frames) == (3, 2, 1)


def test_a_block_after_the_other_is_final_as_it_is_left() -> None:
    canvases = [[NONE] * 4, [1, NONE, NONE, NONE], [1, 2, NONE, NONE], [1, 2, NONE, 4], [1, 2, 3, 4]]
    frames = settled([Frame(i, slots(c, FINAL, masked_id=NONE)) for i, c in enumerate(canvases)], (1, 2, 3, 4))
    assert signs(frames) == ["mmmm", "fmmm", "ffmm", "ffmf", "ffff"]
    assert committed_at(frames) == (1, 2, 4, 3)


def test_edits_keep_the_slots_they_do_not_touch() -> None:
    """Levenshtein: `a b` loses b, then placeholders come in around a and one of them is filled by c."""
    frames = settled(
        [
            frame(0, (0, 1, FINAL), (1, 2, FINAL)),
            frame(1, (0, 1, FINAL)),
            frame(2, (2, NONE, MASKED), (0, 1, FINAL), (3, NONE, MASKED)),
            frame(3, (2, 3, FINAL), (0, 1, FINAL), (3, 4, FINAL)),
        ],
        (3, 1, 4),
    )
    assert signs(frames) == ["ft", "f", "mfm", "fff"]
    assert committed_at(frames) == (3, 0, 3)


def test_a_draft_is_tentative_until_it_is_accepted() -> None:
    """Speculation: three tokens drafted, two accepted with one of the target's own in the third's place."""
    frames = settled(
        [
            frame(0, (0, 5, TENTATIVE), (1, 6, TENTATIVE), (2, 7, TENTATIVE)),
            frame(1, (0, 5, FINAL), (1, 6, FINAL), (3, 8, FINAL)),
        ],
        (5, 6, 8),
    )
    assert signs(frames) == ["ttt", "fff"]
    assert committed_at(frames) == (1, 1, 1)


def test_no_frames_are_no_commitments() -> None:
    assert settled([], ()) == ()
    assert committed_at(()) == ()


def test_ar_commits_from_the_left_one_a_decoder_pass(codec: MarianCodec) -> None:
    got = ask(Autoregressive(tiny_model(), codec), random_sources(2), Exact(5), trace=True)
    decoding = tuple(i for i, step in enumerate(got.steps) if step.phase is Phase.DECODE)
    assert got.committed_at == (decoding, decoding)


def test_a_beam_commits_everything_when_it_selects(codec: MarianCodec) -> None:
    searching = Autoregressive(tiny_model(), codec, ArConfig(beam_size=3))
    got = ask(searching, random_sources(3), Exact(5), trace=True)
    assert got.committed_at == ((len(got.steps) - 1,) * 5,) * 3
    assert got.trace is not None
    for row in got.trace:
        assert signs(row) == ["t", "tt", "ttt", "tttt", "fffff"]
    leaders = [[slot.token_id for slot in one.slots] for one in got.trace[0]]
    assert [len(leader) for leader in leaders] == [1, 2, 3, 4, 5]


def test_a_beam_of_a_closed_row_is_no_longer_followed(codec: MarianCodec) -> None:
    searching = Autoregressive(tiny_model(eos_bias=6.0), codec, ArConfig(beam_size=3))
    got = ask(searching, random_sources(12), Natural(20), trace=True)
    assert got.trace is not None
    ends = [row[-1].step for row in got.trace]
    assert min(ends) < max(ends) == len(got.steps) - 1


def test_one_shot_commits_everything_when_the_alignment_collapses(codec: MarianCodec) -> None:
    model = tiny_model("ctc")
    got = ask(Ctc(model, codec), random_sources(3), Natural(20), trace=True)  # type: ignore[arg-type]
    assert [step.phase for step in got.steps] == [Phase.ENCODE, Phase.DECODE, Phase.HOST]
    assert got.trace is not None and got.canvas_positions is not None
    for row, canvas, kept in zip(got.trace, got.canvas_positions, got.token_ids, strict=True):
        read, collapsed = row
        assert (read.step, collapsed.step) == (1, 2)
        assert [slot.uid for slot in read.slots] == list(range(canvas))
        assert {slot.state for slot in read.slots} <= {MASKED, TENTATIVE}
        assert tuple(slot.token_id for slot in collapsed.slots) == kept
        assert {slot[:2] for slot in collapsed.slots} <= {slot[:2] for slot in read.slots}


def test_of_equal_neighbours_the_first_survives_and_no_blank_does() -> None:
    assert survivors([9, 1, 1, 9, 1, 2, 2, 9], blank_token_id=9) == [1, 4, 5]


def test_mask_predict_fills_and_revises_where_no_length_is_searched(codec: MarianCodec) -> None:
    model = tiny_model("cmlm")
    alone = MaskPredict(model, codec, MaskPredictConfig(n_iterations=4))  # type: ignore[arg-type]
    got = ask(alone, random_sources(4), Exact(8), trace=True)
    assert got.trace is not None
    for row in got.trace:
        assert [sum(slot.state is MASKED for slot in one.slots) for one in row] == [8, 6, 4, 2, 0]  # 8 · (4 − t) / 4
    assert any("t" in "".join(signs(row)) for row in got.trace), "no token was revised: the case is not covered"


def test_mask_predict_commits_when_it_selects_a_length(codec: MarianCodec) -> None:
    model = tiny_model("cmlm")
    searching = MaskPredict(model, codec, MaskPredictConfig(n_iterations=2))  # type: ignore[arg-type]
    got = ask(searching, random_sources(3), Natural(20), trace=True)
    assert got.steps[-1].phase is Phase.HOST
    assert got.committed_at == tuple((len(got.steps) - 1,) * len(row) for row in got.token_ids)


def test_a_piece_is_what_one_id_writes(codec: MarianCodec) -> None:
    ids = codec.encode_target("And God said")
    assert "".join(map(codec.piece, ids)).strip() == "And God said"
    assert codec.piece(codec.eos_token_id) == "</s>"
