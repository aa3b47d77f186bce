# needs: verl
"""Captured optimizer steps of verl's own engine and losses on several ranks at once: what one rank cannot count, the files of all show."""

from __future__ import annotations

import contextlib

import pytest

from echelon_capture.row_marks import STEP
from ranks_support import run_ranks
from steps_support import by_case, verified
from verl_ranks_support import LOCAL, MICRO_BATCHES, ROWS, aggregates, counted, own_count, rejected_after_the_count, scaled, trains

RIGHT = {
    "token mean": {},
    "token mean, bfloat16": dict(dtype="bfloat16"),
    "sequence mean": dict(loss_agg_mode="seq-mean-token-mean"),
    "sequence sum with KL": dict(loss_agg_mode="seq-mean-token-sum", use_kl_loss=True, kl_loss_type="low_var_kl", kl_loss_coef=0.05),
    "sums over a constant": dict(loss_agg_mode="seq-mean-token-sum-norm", loss_scale_factor=64),
    "rows with their places": dict(places=lambda rank, size: own_places(rank, size)),
    "rollout weights, bfloat16": dict(weights=True, dtype="bfloat16"),
    "sapo beside a KL term with another mode": dict(mode="sapo", use_kl_loss=True, kl_loss_type="low_var_kl", kl_loss_coef=0.05),
    "geo_mean beside a KL term": dict(mode="geo_mean", use_kl_loss=True, kl_loss_type="low_var_kl", kl_loss_coef=0.05),
    "geo_mean, bfloat16": dict(mode="geo_mean", dtype="bfloat16"),
    "geo_mean with rollout weights": dict(mode="geo_mean", weights=True),
    "dro": dict(mode="dro"),
}


@contextlib.contextmanager
def metric_of_other_tokens(_rank, _size):
    """The reported KL is divided by a narrower mask than it was summed over."""
    from verl.workers.utils import losses

    own = losses.ppo_loss

    def ppo_loss(*arguments, **keywords):
        loss, metrics = own(*arguments, **keywords)
        metrics["actor/ppo_kl"].values[-1] *= 1.5
        return loss, metrics

    losses.ppo_loss = ppo_loss
    try:
        yield
    finally:
        losses.ppo_loss = own


def own_places(rank, size):
    import torch

    return torch.arange(ROWS * size).flip(0)[rank::size] + 3 * STEP


def repeated_places(rank, size):
    """Every rank trains the same rows."""
    return own_places(0, size)


# Rows of the page on silent bugs whose class is the denominator or the scale of the loss, as far as verl's functions can have them.
PLANTED = {
    "19 divided by all positions": counted(lambda info, mat, mask: dict(batch_num_tokens=info["batch_num_tokens"] * mask.numel() / mask.sum())),
    "20 scaled twice": scaled(lambda size: size),
    "21, 22, 36 rejected tokens stay in the count": rejected_after_the_count,
    "31, 33 per micro-batch, summed": counted(lambda info, mat, mask: LOCAL),
    "34 without the ranks": counted(lambda info, mat, mask: dict(dp_size=1)),
    "35, 67 weighted with shares of the rows": aggregates(
        lambda own, mat, mask, mode, info, size: own(mat, mask, mode, **LOCAL) * len(mask) / ROWS
    ),
    "44, 51 mean of the means of micro-batches": aggregates(
        lambda own, mat, mask, mode, info, size: own(mat, mask, mode, **LOCAL) / MICRO_BATCHES
    ),
    "45 divided by the context-parallel size": scaled(lambda size: 1 / 2),
    "70 times micro-batches and ranks": scaled(lambda size: MICRO_BATCHES * size),
}


PLANTED["50 each rank divides by its own count"] = own_count
ROWS_PLANTED = {
    "34 no mean over rows": (dict(loss_agg_mode="seq-mean-token-sum"), counted(lambda info, mat, mask: dict(global_batch_size=1))),
    "34 rows of the rank": (dict(loss_agg_mode="seq-mean-token-mean"), counted(lambda info, mat, mask: dict(global_batch_size=ROWS))),
}
CASES = {
    **{f"right/{name}": trains(**settings) for name, settings in RIGHT.items()},
    **{f"planted/{name}": trains(plant=plant, updates=1) for name, plant in PLANTED.items()},
    **{f"planted/{name}": trains(plant=plant, updates=1, **settings) for name, (settings, plant) in ROWS_PLANTED.items()},
    "planted/64, 71 a reported value of other tokens": trains(plant=metric_of_other_tokens, updates=1),
    "planted/rows that are trained twice": trains(places=repeated_places, updates=1),
    "planted/50 in bfloat16": trains(plant=own_count, dtype="bfloat16", updates=1),
}


# What depends on the number of ranks, and not only on that there are several.
OF_FOUR_RANKS = (
    "right/token mean", "right/token mean, bfloat16", "right/rows with their places", "planted/34 without the ranks",
    "planted/50 each rank divides by its own count", "planted/50 in bfloat16",
)  # fmt: skip


@pytest.fixture(scope="module", params=[2, 4])
def captured(request, tmp_path_factory):
    """The folder in which cases of so many ranks captured, the number of ranks, and the names of the cases."""
    pytest.importorskip("verl.workers.engine_workers")
    folder = tmp_path_factory.mktemp("ranks")
    cases = CASES if request.param == 2 else {name: CASES[name] for name in OF_FOUR_RANKS}
    run_ranks(request.param, cases, folder)
    return folder, request.param, set(cases)


def counts_of(report, name):
    stage = next(stage for stage in report["stages"] if stage["stage"] == name)
    return [stage[key] for key in ("wrong", "unverifiable")]


def test_right_steps_of_all_ranks_are_verified_with_their_denominators(captured):
    folder, size, cases = captured
    _, found = by_case(folder / "right")
    assert {f"right/{name}" for name in found} == {name for name in cases if name.startswith("right/")}
    for name, reports in found.items():
        assert len(reports) == 2
        for report in reports:
            assert report["rows"] == ROWS * size
            assert report["consistent"], (name, report)
            assert counts_of(report, "gradient") == [0, 0], (name, report)
            assert "denominator" in report["coverage"]["verified"], (name, report)
            if not name.startswith("geo_mean"):
                # It divides by the rows of a micro-batch, which verl reports nowhere.
                assert counts_of(report, "denominator") == [0, 0], (name, report)


def test_every_wrong_denominator_or_scale_is_found(captured):
    folder, _, cases = captured
    _, found = by_case(folder / "planted")
    missed = [name for name, reports in found.items() if all(report["consistent"] for report in reports)]
    assert {f"planted/{name}" for name in found} == {name for name in cases if name.startswith("planted/")}
    assert missed == []


def test_without_the_file_of_one_rank_denominators_are_unverifiable(captured, tmp_path):
    folder, size, _ = captured
    for path in (folder / "right" / "token mean").glob(f"update-000001-rank-[!{size - 1}].pb"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    status, (report,) = verified(tmp_path)
    lacks = next(stage["lacks"] for stage in report["stages"] if stage["stage"] == "denominator")
    assert status == 3
    assert counts_of(report, "denominator") == [0, MICRO_BATCHES * (size - 1)]
    assert lacks == [f"the files of 1 other of {size} ranks"]
