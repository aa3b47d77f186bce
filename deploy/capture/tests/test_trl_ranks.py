# needs: trl
"""Captured optimizer steps of trainings with TRL's GRPOTrainer on several ranks at once, three micro-batches each."""

from __future__ import annotations

import contextlib

import pytest

from ranks_support import run_ranks
from steps_support import by_case
from trl_ranks_support import GOLDEN, MICRO_BATCHES, full_window, generated, items, scaled, trains

pytest.importorskip("trl")

RIGHT = {
    "dapo": {},
    "dapo, bfloat16": dict(bf16=True),
    "dapo in two windows": dict(steps_per_generation=2 * MICRO_BATCHES),
    "dapo, truncated rows without loss": dict(mask_truncated_completions=True),
    "grpo with KL": dict(loss_type="grpo", beta=0.04),
    "bnpo": dict(loss_type="bnpo"),
    "dr_grpo": dict(loss_type="dr_grpo"),
    "cispo, two passes": dict(loss_type="cispo", epsilon_high=1.28, num_iterations=2),
    "grpo with KL and an off-policy mask": dict(loss_type="grpo", beta=0.5, off_policy_mask_threshold=0.001, num_iterations=2),
    "dapo with ratios of rows and an off-policy mask": dict(
        importance_sampling_level="sequence", off_policy_mask_threshold=0.001, num_iterations=2
    ),
}


def other_slice(result, rank):
    """Each rank has the advantages of the other one's rows."""
    import torch.distributed as dist

    of_all = [torch_like(result["advantages"]) for _ in range(dist.get_world_size())]
    dist.all_gather(of_all, result["advantages"])
    result["advantages"] = of_all[rank - 1]


def torch_like(tensor):
    return tensor.new_empty(tensor.shape)


def shifted(result, _rank):
    mask = result["completion_mask"]
    mask[:] = mask.roll(1, dims=1)
    mask[:, 0] = 0


def without_last(result, _rank):
    mask = result["completion_mask"]
    for row in mask:
        row[int(row.sum()) - 1] = 0


def rolled(key):
    def change(result, _rank):
        result[key] = result[key].roll(1, dims=0)

    return change


@contextlib.contextmanager
def rolled_after_generation(trainer, _size):
    own = trainer._prepare_inputs

    def faulty(inputs):
        result = own(inputs)
        return {**result, "advantages": result["advantages"].roll(1)}

    trainer._prepare_inputs = faulty
    yield


@contextlib.contextmanager
def counted_before_truncation(trainer, _size):
    """Truncated completions leave the numerator, not the count."""
    own = trainer._generate_and_score_completions

    def faulty(inputs):
        result = own(inputs)
        mask = result["completion_mask"]
        mask[:, -1] = 0
        return result

    trainer._generate_and_score_completions = faulty
    yield


PLANTED = {
    "19 all positions": items(lambda inputs, count, size: count * inputs["completion_mask"].numel() / inputs["completion_mask"].sum()),
    "20 scaled twice": scaled(lambda size: size),
    "22 truncated tokens stay in the count": counted_before_truncation,
    "23 times accumulation over steps per generation": scaled(lambda size: 1 / 2),
    "24 divided by the accumulation once more": scaled(lambda size: 1 / MICRO_BATCHES),
    "25 a shorter window is divided by the full size": full_window,
    "27, 44, 51 tokens of the micro-batch": items(lambda inputs, count, size: inputs["completion_mask"].sum() * MICRO_BATCHES * size),
    "29 a count of 0": items(lambda inputs, count, size: count * 0 * float("nan")),
    "31 summed over micro-batches": items(lambda inputs, count, size: inputs["completion_mask"].sum() * size),
    "50 the tokens of the rank": items(lambda inputs, count, size: count * 0 + 41 * size),
    "70 times micro-batches and ranks": scaled(lambda size: MICRO_BATCHES * size),
}


@contextlib.contextmanager
def without_off_policy_mask(trainer, _size):
    """The setting of the off-policy mask has no effect."""
    own = trainer._compute_loss

    def faulty(model, inputs):
        stated, trainer.off_policy_mask_threshold = trainer.off_policy_mask_threshold, None
        try:
            return own(model, inputs)
        finally:
            trainer.off_policy_mask_threshold = stated

    trainer._compute_loss = faulty
    yield


# What the loss gets is not what was generated and estimated.
RECEIVED = {
    "advantages of the other slice": generated(other_slice),
    "advantages that moved by a row": generated(rolled("advantages")),
    "advantages that moved by a row after the generation": rolled_after_generation,
    "ids that moved by a row": generated(rolled("completion_ids")),
    "a mask that moved by a token": generated(shifted),
    "the last token untrained": generated(without_last),
}
CASES = {
    **{f"received/{name}": trains(plant, max_steps=1) for name, plant in RECEIVED.items()},
    **{f"right/{name}": trains(**settings) for name, settings in RIGHT.items()},
    **{f"planted/{name}": trains(plant, max_steps=1) for name, plant in PLANTED.items()},
    "planted/25 in means of rows": trains(full_window, max_steps=1, loss_type="grpo"),
    "planted/an off-policy mask without effect": trains(
        without_off_policy_mask, loss_type="grpo", beta=0.5, off_policy_mask_threshold=0.001, num_iterations=2
    ),
    "planted/20 in bfloat16": trains(scaled(lambda size: size), max_steps=1, bf16=True),
}


OF_FOUR_RANKS = ("right/dapo", "right/dapo, bfloat16", "planted/22 truncated tokens stay in the count", "planted/50 the tokens of the rank")


@pytest.fixture(scope="module", params=[2, 4])
def captured(request, tmp_path_factory):
    """The folder in which all cases of so many ranks captured, and the number of ranks."""
    import sys

    sys.path.insert(0, str(GOLDEN))
    import trl_run  # noqa: F401 - before the ranks are forked, which share it

    folder = tmp_path_factory.mktemp("ranks")
    trl_run.model().save_pretrained(folder / "model")
    cases = CASES if request.param == 2 else {name: CASES[name] for name in OF_FOUR_RANKS}
    run_ranks(request.param, cases, folder)
    return folder, request.param, cases


def test_right_steps_of_all_ranks_are_verified_with_their_denominators(captured):
    folder, size, cases = captured
    _, found = by_case(folder / "right")
    assert {f"right/{name}" for name in found} == {name for name in cases if name.startswith("right/")}
    for name, reports in found.items():
        assert len(reports) == 2
        for report in reports:
            assert report["ok"], (name, report)
            assert report["rows"] == 4 * MICRO_BATCHES * size
            assert report["findings"] == [], (name, report["findings"])
            assert report["coverage"]["missing"] == [], (name, report["coverage"])


def test_every_row_that_is_not_the_one_that_was_generated_and_estimated_is_found(captured):
    folder, size, _ = captured
    if size == 2:
        _, found = by_case(folder / "received")
        assert set(found) == set(RECEIVED)
        assert [name for name, reports in found.items() if all(report["consistent"] for report in reports)] == []


def test_every_wrong_denominator_or_scale_is_found(captured):
    folder, _, cases = captured
    _, found = by_case(folder / "planted")
    assert {f"planted/{name}" for name in found} == {name for name in cases if name.startswith("planted/")}
    assert [name for name, reports in found.items() if all(report["consistent"] for report in reports)] == []
