"""The output layer's losses are torch's own, in value and in gradient, computed another way."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from generators.training import output

N_IDS, WIDTH, BLANK = 60, 16, 58


def parts(*shape: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """States, output weights and bias."""
    torch.manual_seed(0)
    hidden = torch.randn(*shape, WIDTH, dtype=dtype, requires_grad=True)
    return hidden, torch.randn(N_IDS, WIDTH, dtype=dtype, requires_grad=True), torch.randn(N_IDS, dtype=dtype)


def assert_same(found: Tensor, wanted: Tensor, *inputs: Tensor) -> None:
    """Equal values and gradients, of the loss times three, as a sum of losses would weigh it."""
    torch.testing.assert_close(found, wanted)
    gradients = (torch.autograd.grad(3 * loss, inputs) for loss in (found, wanted))
    close = {"rtol": 1e-3, "atol": 1e-4} if found.dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-12}
    torch.testing.assert_close(*gradients, **close)


@pytest.mark.parametrize("n_rows", [1, 127, 128, 300])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_cross_entropy_is_torchs(n_rows: int, smoothing: float, dtype: torch.dtype) -> None:
    hidden, weight, bias = parts(n_rows, dtype=dtype)
    targets = torch.randint(0, N_IDS, (n_rows,))
    targets[1::7] = output.IGNORED
    wanted = F.cross_entropy(F.linear(hidden, weight, bias), targets, label_smoothing=smoothing)
    assert_same(output.cross_entropy(hidden, weight, bias, targets, smoothing), wanted, hidden, weight)


def ctc_case(dtype: torch.dtype) -> tuple[tuple[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]:
    """Rows whose tokens come again, side by side and apart; a padded one; an empty one; one beyond its canvas."""
    targets = torch.tensor([[5, 5, 7, 5, 9], [3, 4, 59, 59, 59], [59, 59, 59, 59, 59], [3, 3, 3, 3, 3]])
    return parts(4, 50, dtype=dtype), (targets, torch.tensor([50, 31, 7, 8]), torch.tensor([5, 2, 0, 5]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ctc_over_the_rows_own_tokens_is_torchs_over_all(dtype: torch.dtype) -> None:
    (hidden, weight, bias), (targets, canvas, lengths) = ctc_case(dtype)
    log_probs = F.linear(hidden, weight, bias).log_softmax(-1).transpose(0, 1)
    wanted = F.ctc_loss(log_probs, targets, canvas, lengths, blank=BLANK, reduction="sum", zero_infinity=True)
    assert_same(
        output.ctc(hidden, weight, bias, targets, canvas, lengths, BLANK), wanted / lengths.sum(), hidden, weight
    )


def test_under_autocast_the_products_are_rounded_and_nothing_else() -> None:
    """bf16 has 8 bits: logits of some 10 are off by up to 1/32, which is what the losses may differ by."""
    (hidden, weight, bias), (targets, canvas, lengths) = ctc_case(torch.float32)
    rows, wanted_ids = hidden.flatten(0, 1), torch.arange(200) % N_IDS
    for loss in (
        lambda: output.ctc(hidden, weight, bias, targets, canvas, lengths, BLANK),
        lambda: output.cross_entropy(rows, weight, bias, wanted_ids, 0.1),
    ):
        exact = loss()
        with torch.autocast("cpu", torch.bfloat16):
            rounded = loss()
        assert rounded.dtype == torch.float32
        torch.testing.assert_close(rounded, exact, rtol=0.01, atol=0)
        for one, other in zip(
            *(torch.autograd.grad(value, (hidden, weight)) for value in (rounded, exact)), strict=True
        ):
            assert F.cosine_similarity(one.flatten(), other.flatten(), dim=0) > 0.999
