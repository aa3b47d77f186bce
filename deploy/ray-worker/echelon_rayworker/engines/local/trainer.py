"""The training loop: collect, estimate, update, evaluate, save, and report all of it.

The order within a step is that of the recipe: returns, then penalties, then advantages over all collected rows in
the order of collection, then the update.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import asdict
from typing import Iterator

import numpy as np

from echelon_rayworker import __version__
from echelon_capture.format import build_batch
from echelon_capture.format import build_step_batch

from . import checkpoints
from .estimators import Rows, advantages, scores, step_rewards
from .learner import Learner
from .policy import starting_weights
from .pools import Pool
from .rollout import EVALUATION_TEMPERATURE, Collected, panel_digest
from .settings import Settings
from .step import step_of


class Trainer:
    """One run. `spool` is the reporter (see echelon_rayworker.spool), `pool` plays the games."""

    def __init__(self, settings: Settings, pool: Pool, spool):
        self._settings, self._pool, self._spool = settings, pool, spool
        start = starting_weights(settings.rollout.history_length)
        self._learner = Learner(
            weights=start,
            reference=start.copy(),
            learning_rate=settings.training.learning_rate,
            epochs=settings.training.epochs,
            clip_ratio=settings.training.clip_ratio,
            kl_coefficient=settings.training.kl_coefficient,
            fault=settings.training.fault,
        )
        self._chance = np.random.default_rng([settings.rollout.training_seed, 3])
        self._digest = panel_digest(settings.rollout, settings.evaluation_games)
        self._timings: dict[str, float] = {}
        self.metrics: dict[str, float] = {}

    def run(self) -> dict[str, float]:
        """Trains to the last step, from the newest checkpoint on; returns the last metrics."""
        for _ in self.batches():
            pass
        return self.metrics

    def batches(self) -> Iterator[tuple[int, dict]]:
        """As `run`, giving out each step and its batch (the arguments of build_batch) after it was trained on."""
        settings = self._settings
        done, steps = 0, settings.training.steps
        if settings.experiment_dir:
            done = checkpoints.resume(settings.experiment_dir, self._learner, self._chance, settings.curve)
        if done:
            print(f"resuming after step {done}", flush=True)
        if done == 0 or done >= steps:
            self._report(done, self._evaluate(done))
        for step in range(done + 1, steps + 1):
            yield step, self._step(step)

    def _step(self, step: int) -> dict:
        training = self._settings.training
        self._timings = {}
        self._spool.stage(f"step {step} of {training.steps}", step=step, steps=training.steps)
        with self._timed("step"):
            with self._timed("gen"):
                collected = self._pool.collect(self._learner.weights, step)
            with self._timed("adv"):
                batch, metrics, trajectory = self._estimate(step, collected)
            with self._timed("update_actor"):
                chosen = collected.choices.candidate_start[:-1] + collected.pick
                metrics.update(
                    self._learner.update(collected.choices, chosen, batch["advantage"], trajectory, self._chance)
                )
            if training.capture_every and step % training.capture_every == 0:
                update = step_of(batch, self._learner)
                self._spool.batch(step, build_step_batch(update), rows=len(update["trajectory"]))
            time.sleep(training.step_delay_seconds)
            last = step == training.steps
            if last or (training.evaluate_every and step % training.evaluate_every == 0):
                metrics.update(self._evaluate(step))
            if self._settings.experiment_dir and (last or (training.save_every and step % training.save_every == 0)):
                self._save(step)
        metrics.update({f"timing_s/{name}": seconds for name, seconds in self._timings.items()})
        self._report(step, metrics)
        return batch

    def _estimate(self, step: int, collected: Collected) -> tuple[dict, dict[str, float], np.ndarray]:
        """The batch with its advantages, reported, metrics of what was collected, and the number of each row's trajectory."""
        estimator = self._settings.estimator
        trajectory = np.unique(
            np.stack([collected.group, collected.trajectory]), axis=1, return_inverse=True
        )[1].ravel()
        known: dict[str, int] = {}
        rows = Rows(
            group=collected.group,
            trajectory=trajectory,
            observation=np.array([known.setdefault(text, len(known)) for text in collected.observations]),
            step_reward=step_rewards(collected.reward, trajectory, collected.action_valid, estimator),
            score=scores(collected.reward, trajectory, collected.action_valid, estimator),
        )
        advantage = advantages(rows, estimator)
        columns = self._batch(step, collected, rows, advantage)
        self._spool.batch(step, build_batch(**columns), rows=len(advantage))
        return columns, _episode_metrics(collected, trajectory, rows, advantage), trajectory

    def _batch(self, step: int, collected: Collected, rows: Rows, advantage: np.ndarray) -> dict:
        """The arguments of build_batch."""
        settings = self._settings
        return {
            "name": f"step {step}",
            "estimator": {**asdict(settings.estimator), "epsilon": 1e-6, "forms": "recipe"},
            "provenance": {
                "experiment": os.environ.get("ECHELON_EXPERIMENT", ""),
                "attempt": int(os.environ.get("ECHELON_ATTEMPT") or 0),
                "training_step": step,
                "group_size": settings.rollout.group_size,
                "groups": settings.groups,
                "rows_collected": len(collected.group),
                "producer": f"echelon-local/{__version__}",
            },
            "group": [f"{step}.{group}" for group in collected.group],
            "trajectory": [f"{step}.{g}.{t}" for g, t in zip(collected.group, collected.trajectory)],
            "step": collected.step,
            "observation": collected.observations,
            "action": collected.actions,
            "reward": collected.reward,
            "action_valid": collected.action_valid,
            "token_level_reward_sum": rows.score.astype(float),
            "response_length": collected.response_length,
            "step_reward": rows.step_reward,
            "advantage": advantage,
            "texts": settings.texts,
        }

    def _evaluate(self, step: int) -> dict[str, float]:
        self._spool.stage("evaluating", step=step, steps=self._settings.training.steps)
        with self._timed("testing"):
            games = self._pool.evaluate(self._learner.weights, self._settings.replicates)
        decoding = {"temperature": EVALUATION_TEMPERATURE, "seed of games and answers": self._settings.rollout.environment_seed}
        self._spool.evaluation(step, games, "local-rooms", self._digest, decoding)
        return {"val/success_rate": float(np.mean([one["success"] for one in games]))}

    def _save(self, step: int) -> None:
        self._spool.stage("saving", step=step, steps=self._settings.training.steps)
        with self._timed("save_checkpoint"):
            path = checkpoints.save(
                self._settings.experiment_dir, step, self._learner, self._chance, self._settings.curve
            )
        self._spool.checkpoint(step, path)

    def _report(self, step: int, metrics: dict[str, float]) -> None:
        self.metrics = {**metrics, "training/global_step": step}
        self._spool.metrics(step, self.metrics)
        shown = " - ".join(f"{name}:{value:.3f}" for name, value in sorted(self.metrics.items()))
        print(f"step:{step} - {shown}", flush=True)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._timings[name] = time.perf_counter() - start


def _episode_metrics(
    collected: Collected, trajectory: np.ndarray, rows: Rows, advantage: np.ndarray
) -> dict[str, float]:
    reward = np.bincount(trajectory, weights=collected.reward)
    metrics = {
        "episode/success_rate": float((reward > 0).mean()),
        "episode/valid_action_ratio": float(collected.action_valid.mean()),
    }
    for name, values in (
        ("episode/reward", reward),
        ("episode/length", np.bincount(trajectory)),
        ("critic/rewards", rows.score),
        ("critic/advantages", advantage),
    ):
        for kind in ("mean", "max", "min"):
            metrics[f"{name}/{kind}"] = float(getattr(values, kind)())
    return metrics
