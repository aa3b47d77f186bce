"""The rows of a rollout, for any version of TRL."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from echelon_capture.trl_rows import Rollout, _generated, _version


@pytest.mark.parametrize(
    ("found", "ids", "tools"),
    [
        (([[1]], [[5, 6], [7]], [[1, 0], [1]], "more"), [[5, 6], [7]], [[1, 0], [1]]),
        (([[1]], [[5, 6], [7]], None), [[5, 6], [7]], None),
    ],
)
def test_ids_and_tool_masks_are_copied_from_what_was_generated(found, ids, tools):
    generated = _generated(found)
    assert generated == (ids, tools)
    assert generated[0][0] is not found[1][0]


@pytest.mark.parametrize("found", [None, (), ([[1]], [[5]]), ([[1]], [[5, 6]], 17), ([[1]], [[5, 6]], [[1]]), (1, "text", None)])
def test_another_version_that_returns_something_else_is_not_followed_and_nothing_raises(found):
    assert _generated(found) is None


def rollout(old=None):
    return Rollout(3, 4, [[5, 6], [7, 8, 9]], [[1, 0], [1, 1, 1]], old)


def test_a_row_has_the_same_digest_at_the_loss_as_in_the_rollout_and_another_if_an_id_or_its_place_differs():
    ids = np.array([[7, 8, 9, 0], [5, 6, 0, 0]])
    generated = rollout().generated()
    assert rollout().trained([5, 4], ids, None) == [generated[1], generated[0]]
    assert rollout().names([5, 4]) == ["3/5", "3/4"]
    for places, changed in (([4, 5], ids), ([5, 4], ids + np.array([[0, 1, 0, 0], [1, 0, 0, 0]]))):
        assert not set(rollout().trained(places, changed, None)) & set(generated)


@pytest.mark.parametrize(
    ("trainer", "version"),
    [
        (SimpleNamespace(use_vllm=False), 8),
        (SimpleNamespace(use_vllm=True, _last_loaded_step=6), 7),
        (SimpleNamespace(use_vllm=True, _last_loaded_step=-1), 0),
        (SimpleNamespace(use_vllm=True), None),
    ],
)
def test_the_version_of_rows_is_that_of_the_weights_that_vllm_loaded_last(trainer, version):
    assert _version(trainer, 8) == version


def test_sampled_tokens_are_those_that_no_tool_wrote():
    assert rollout().sampled([5, 4], 4).tolist() == [[True, True, True, False], [True, False, False, False]]
