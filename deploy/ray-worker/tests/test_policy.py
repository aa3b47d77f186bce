"""The policy and its learning: probabilities, features, gradient."""

import numpy as np
import pytest

from echelon_rayworker.engines.local import features, learner
from echelon_rayworker.engines.local.features import Prompt, command_features, context_features
from echelon_rayworker.engines.local.learner import Known, Learner
from echelon_rayworker.engines.local.policy import assemble, densify, log_probabilities, sample, starting_weights
from echelon_rayworker.engines.local.rollout import RolloutSettings, collect

SETTINGS = RolloutSettings(environment_seed=7, training_seed=7, max_steps=12, history_length=2, group_size=3)


@pytest.mark.parametrize("history_length", [0, 1, 2, 4])
def test_features_are_within_the_sizes_and_each_once(history_length):
    recent = ("You take the mug 1 from the bed 1.", *["Nothing happens."] * history_length)
    prompt = Prompt("put a clean mug in/on the bed.", recent)
    put, go = command_features(("put mug 1 in/on bed 1", "go to bed 1"), prompt)
    for found, size in (
        (context_features(prompt), features.context_size(history_length)),
        (put, features.command_size(history_length)),
        (go, features.command_size(history_length)),
    ):
        assert len(set(found)) == len(found) and 0 <= min(found) and max(found) < size


def test_the_window_is_part_of_the_prompt():
    now = "You are in the kitchen. Looking around, you see a stove 1."
    searching = Prompt("put a mug in/on the bed.", (now, "You arrive at the bed 1. On it, you see nothing."))
    carrying = Prompt("put a mug in/on the bed.", (now, "You take the mug 1 from the desk 1."))
    assert context_features(searching) != context_features(carrying)


def test_words_outside_the_vocabulary_are_ignored():
    prompt = Prompt("put a mug in/on the bed.", ("You see a zebra.",))
    assert context_features(prompt) == context_features(Prompt(prompt.task, ("You see a quokka.",)))


def test_probabilities_of_a_row_sum_to_one_and_follow_the_temperature():
    collected = collect(SETTINGS, starting_weights(2), 1, [0, 1])
    weights = starting_weights(2)
    dense = densify(collected.choices, weights)
    warm = log_probabilities(weights, dense)
    cold = log_probabilities(weights, dense, 0.1)
    first = dense.start[:-1]
    for values in (warm, cold):
        np.testing.assert_allclose(np.add.reduceat(np.exp(values), first), 1, rtol=1e-5)
    assert (np.maximum.reduceat(cold, first) >= np.maximum.reduceat(warm, first) - 1e-6).all()


def test_samples_follow_the_probabilities():
    start = np.array([0, 3, 5])
    probability = np.array([0.2, 0.5, 0.3, 0.9, 0.1])
    uniform = (np.arange(1000) + 0.5) / 1000
    drawn = np.array([sample(np.log(probability), start, np.array([one, one])) for one in uniform])
    assert [(drawn[:, 0] == choice).sum() for choice in range(3)] == [200, 500, 300]
    assert [(drawn[:, 1] == choice).sum() for choice in (3, 4)] == [900, 100]
    assert sample(np.log(probability), start, np.array([1.0, 0.0])).tolist() == [2, 3]


def objective(one: Learner, part, places, advantage, old, reference) -> float:
    """What an update descends, in float64, written from the formula."""
    every = log_probabilities(one.weights.astype(np.float64), part)
    new = every[places]
    ratio = np.exp(new - old)
    clipped = np.clip(ratio, 1 - one.clip_ratio, 1 + one.clip_ratio)
    loss = np.maximum(-advantage * ratio, -advantage * clipped)
    loss = np.where(advantage < 0, np.minimum(loss, -advantage * learner.DUAL_CLIP), loss)
    divergence = np.exp(reference - new) - (reference - new) - 1
    entropy = -np.add.reduceat(np.exp(every) * every, part.start[:-1])
    return float((loss + one.kl_coefficient * divergence - learner.ENTROPY_COEFFICIENT * entropy).mean())


def test_the_gradient_of_all_micro_batches_is_that_of_the_objective(monkeypatch):
    chance = np.random.default_rng(5)
    start = starting_weights(2)
    collected = collect(SETTINGS, start, 1, [0])
    dense = densify(collected.choices, start)
    chosen = collected.choices.candidate_start[:-1] + collected.pick
    rows = np.arange(collected.choices.rows)
    part, places = learner._part(dense, rows, chosen)
    one = Learner(start + chance.normal(0, 0.05, start.shape).astype(np.float32), start, 0.0, 1, 0.2, 0.5)
    advantage = chance.normal(size=len(rows)).astype(np.float32)
    old = log_probabilities(start, part)[places] + chance.normal(0, 0.3, len(rows)).astype(np.float32)
    reference = log_probabilities(start, part)[places]
    taken = []
    monkeypatch.setattr(learner, "GRADIENT_CLIP", np.inf)
    monkeypatch.setattr(one, "_adam", taken.append)
    step = one._optimizer_step(dense, Known(chosen, advantage, collected.trajectory, old, reference), rows)
    assert len(step.denominators) == 3 and set(step.denominators) == {len(rows)}
    gradient = taken[0]
    at = np.unravel_index(np.argsort(-np.abs(gradient), axis=None)[:20], gradient.shape)
    for i, j in zip(*at):
        ends = []
        for change in (1e-3, -1e-3):
            moved = Learner(one.weights.astype(np.float64), start, 0.0, 1, 0.2, 0.5)
            moved.weights[i, j] += change
            ends.append(objective(moved, part, places, advantage, old, reference))
        assert gradient[i, j] == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=0.02, abs=1e-6)


def test_an_update_makes_what_went_well_more_likely():
    start = starting_weights(2)
    collected = collect(SETTINGS, start, 1, [0, 1])
    chosen = collected.choices.candidate_start[:-1] + collected.pick
    dense = densify(collected.choices, start)
    one = Learner(start.copy(), start, 0.03, 2, 0.2, 0.0)
    advantage = np.where(np.arange(len(chosen)) % 2, 1, -1).astype(np.float32)
    before = log_probabilities(start, dense)[chosen]
    trajectory = 3 * collected.group + collected.trajectory
    metrics = one.update(collected.choices, chosen, advantage, trajectory, np.random.default_rng(0))
    change = log_probabilities(one.weights, dense)[chosen] - before
    assert change[advantage > 0].mean() > 0 > change[advantage < 0].mean()
    assert metrics["actor/grad_norm"] > 0 and one.updates == 2 * learner.MINI_BATCHES


def test_candidates_of_different_number_stand_side_by_side():
    choices = assemble([[0, 3], [1]], [[[0], [1, 2]], [[4]]])
    assert choices.rows == 2
    assert choices.candidate_start.tolist() == [0, 2, 3]
    assert choices.command_start.tolist() == [0, 1, 3, 4]
