"""The last optimizer step of a training step, in the format's form: a row is a trajectory of a micro-batch, a token an action."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .learner import DUAL_CLIP, ENTROPY_COEFFICIENT, LOG_RATIO_CLAMP, Learner


def step_of(columns: Mapping[str, Any], learner: Learner) -> dict[str, Any]:
    """The argument of build_step_batch. `columns`: the arguments of build_batch, with which the learner was updated last."""
    taken = learner.last
    known, rows = taken.known, taken.row
    place = np.stack([taken.micro_batch, known.trajectory[rows]])
    first = np.flatnonzero((np.diff(place, axis=1, prepend=-1) != 0).any(0))
    tokens = {
        "offset": np.append(first, len(rows)),
        "position": columns["step"][rows],
        "logProb": taken.log_prob, "oldLogProb": known.old[rows], "referenceLogProb": known.reference[rows],
        "reportedAdvantage": known.advantage[rows], "lossGradient": taken.gradient,
    }  # fmt: skip
    batch = {
        "name": f"update {taken.number}",
        "step": _settings(learner),
        "group": [columns["group"][row] for row in rows[first]],
        "trajectory": [columns["trajectory"][row] for row in rows[first]],
        "microBatch": taken.micro_batch[first],
        "tokens": tokens,
    }
    if columns["texts"]:
        texts = [columns["action"][row] for row in rows]
        ids = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        tokens["id"] = [ids[text] for text in texts]
        batch["idTexts"] = {number: text for text, number in ids.items()}
    return batch


def _settings(learner: Learner) -> dict[str, Any]:
    taken, clip = learner.last, learner.clip_ratio
    reported = {"policyLoss": "pg_loss", "klLoss": "kl_loss"}
    of_tokens = {"clipFraction": "pg_clipfrac", "approxKl": "ppo_kl"}
    return {
        "optimizerStep": taken.number,
        "trainer": "echelon-local",
        "policyLoss": {
            "name": "ppo-clip", "clipLow": clip, "clipHigh": clip, "dualClip": DUAL_CLIP, "logRatioClamp": LOG_RATIO_CLAMP,
        },
        "kl": {"estimator": "k3", "coefficient": learner.kl_coefficient, "placement": "loss", "inputClamp": LOG_RATIO_CLAMP},
        "entropyCoefficient": ENTROPY_COEFFICIENT,
        "aggregation": {"mode": "token-mean", "scope": "global"},
        "precision": "float32",
        "microBatches": [
            {"rank": 0, "index": index, "pass": taken.epoch, "reportedDenominator": denominator}
            for index, denominator in enumerate(taken.denominators)
        ],
        "reported": {
            key: {"value": taken.metrics[f"actor/{name}"], "reduction": reduction}
            for names, reduction in ((reported, "sum-of-micro-batches"), (of_tokens, "tokens"))
            for key, name in names.items()
        },
    }  # fmt: skip
