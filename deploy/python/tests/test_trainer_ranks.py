# needs: trl
"""The callback that verifies a training while it runs, on two ranks of TRL's GRPOTrainer that are connected with gloo."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl")

ROOT = Path(__file__).parents[3]
SMALL = dict(
    max_steps=3, per_device_train_batch_size=4, gradient_accumulation_steps=2, num_generations=4, learning_rate=1e-2,
    logging_steps=1, log_completions=False, ddp_timeout=120,
)  # fmt: skip
COLLECTIVES = (
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "barrier", "broadcast", "broadcast_object_list",
    "gather", "gather_object", "reduce", "reduce_scatter", "scatter", "scatter_object_list",
)  # fmt: skip


def nothing(trainer, rank):
    """A healthy trainer."""


def halved(trainer, rank):
    """Every rank estimates half of the advantages."""
    own = trainer._generate_and_score_completions

    def faulty(inputs):
        result = own(inputs)
        # The log has those of all ranks.
        logged = trainer._logs["advantages"]
        for at in range(-2 * len(result["advantages"]), 0):
            logged[at] *= 0.5
        return {**result, "advantages": result["advantages"] * 0.5}

    trainer._generate_and_score_completions = faulty


def rolled_on_the_last_rank(trainer, rank):
    """The loss of rank 1 receives advantages that moved by a row."""
    own = trainer._prepare_inputs

    def faulty(inputs):
        result = own(inputs)
        return {**result, "advantages": result["advantages"].roll(1)} if rank == 1 else result

    trainer._prepare_inputs = faulty


def trains(plant, with_callback=True):
    """A case of `run_ranks`: a training whose end each rank writes down."""

    def case(rank, size):
        import torch
        import trl_run

        from echelon_verify.trainer import AdvantageCallback

        folder = Path(os.environ["ECHELON_CAPTURE_DIR"])
        (folder / f"work-{rank}" / "run").mkdir(parents=True)
        os.chdir(folder / f"work-{rank}")
        own, found, counts = trl_run.GRPOTrainer.train, {}, dict.fromkeys(COLLECTIVES, 0)
        originals = {name: getattr(torch.distributed, name) for name in COLLECTIVES}

        def counted(name):
            def call(*arguments, **keywords):
                counts[name] += 1
                return originals[name](*arguments, **keywords)

            return call

        def followed(trainer):
            plant(trainer, rank)
            callback = AdvantageCallback(trainer) if with_callback else None
            if callback:
                trainer.add_callback(callback)
            for name in COLLECTIVES:
                setattr(torch.distributed, name, counted(name))
            own(trainer)
            found.update(step=trainer.state.global_step, collectives=counts)
            if callback:
                logged = [line.get("echelon/rows_wrong", 0) for line in trainer.state.log_history]
                found.update(rows=callback.verifier.rows, wrong=callback.verifier.rows_wrong, received=callback.received_wrong)
                found.update(logged=sum(logged), gaps=[one.reason for one in callback.verifier.gaps])

        trl_run.GRPOTrainer.train = followed
        try:
            trl_run.train("ranks", dict(rewards=[trl_run.decimal], config=SMALL))
        finally:
            trl_run.GRPOTrainer.train = own
            for name, original in originals.items():
                setattr(torch.distributed, name, original)
        (folder / f"{rank}.json").write_text(json.dumps(found))

    return case


CASES = {
    "healthy": trains(nothing),
    "without the callback": trains(nothing, with_callback=False),
    "halved": trains(halved),
    "rolled on the last rank": trains(rolled_on_the_last_rank),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How each case ended, on both ranks."""
    sys.path[:0] = [str(ROOT / "scripts" / "golden"), str(ROOT / "deploy" / "capture" / "tests")]
    import trl_run  # noqa: F401 - before the ranks are forked, which share it
    from ranks_support import run_ranks

    folder = tmp_path_factory.mktemp("ranks")
    run_ranks(2, CASES, folder)
    return {name: [json.loads((folder / name / f"{rank}.json").read_text()) for rank in range(2)] for name in CASES}


def test_a_healthy_training_ends_on_all_ranks_with_every_row_verified_by_rank_0(ended):
    first, second = ended["healthy"]
    assert [first["step"], second["step"]] == [3, 3]
    assert (first["rows"], first["wrong"], first["received"], first["gaps"]) == (3 * 16, 0, 0, [])
    assert (second["rows"], second["received"], second["gaps"]) == (0, 0, [])


def test_a_wrong_advantage_stops_all_ranks_after_the_same_step_and_reaches_the_log(ended):
    first, second = ended["halved"]
    assert [first["step"], second["step"]] == [1, 1]
    assert first["wrong"] == first["logged"] > 0


def test_a_loss_of_another_rank_that_receives_other_advantages_stops_all_ranks(ended):
    first, second = ended["rolled on the last rank"]
    assert [first["step"], second["step"]] == [1, 1]
    assert (first["received"], second["received"] > 0) == (0, True)


def test_the_ranks_agree_once_a_step_and_share_nothing_else(ended):
    with_callback, without = ([one["collectives"] for one in ended[name]] for name in ("healthy", "without the callback"))
    more = [{name: own[name] - other[name] for name in COLLECTIVES if own[name] != other[name]} for own, other in zip(with_callback, without)]
    assert more == [{"all_reduce": 3}, {"all_reduce": 3}]
