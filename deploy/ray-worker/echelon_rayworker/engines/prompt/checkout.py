"""verl-agent's own environments, made by a checkout as its evaluation makes them.

The recipe's program merges the configuration, and `make_envs` makes the environments, prompts and the reading of
actions from it: nothing of them is repeated here. Imports of the checkout happen when the environments are made.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Mapping

from echelon_rayworker import allocation

from ..verl_agent import environment as trainer_environment
from ..verl_agent import hidden, launcher, placement
from ..verl_agent.settings import Settings as EvaluationSettings
from .environments import Outcome, Views
from .errors import PromptError
from .texts import action_of


def connect(evaluation: EvaluationSettings, without: str) -> None:
    """Enters the checkout and connects to Ray, as the evaluation's launcher does. `without`: a variable that environments
    do not get: the key."""
    os.chdir(evaluation.home)
    if evaluation.home not in sys.path:
        sys.path.insert(0, evaluation.home)
    variables = variables_of(evaluation, os.environ, without)
    os.environ.update({name: value for name, value in variables.items() if name not in os.environ})
    launcher.connect(hidden.hide(variables, evaluation.attempt_dir), {})
    if strategy := placement.reserve_cpus(allocation.nodes_of(os.environ)):
        placement.start_in(strategy)


def variables_of(evaluation: EvaluationSettings, environment: Mapping[str, str], without: str) -> dict[str, str]:
    """The variables of the environments' processes."""
    given = {name: value for name, value in environment.items() if name != without}
    given.update(trainer_environment.default_places(given, evaluation))
    return trainer_environment.runtime_variables(given, evaluation.home, "digests")


def merged_configuration(evaluation: EvaluationSettings) -> Any:
    """The configuration that the recipe's program makes of the overrides."""
    try:
        program = importlib.import_module(evaluation.program)
    except ImportError as error:
        raise PromptError(f"{evaluation.home} cannot be imported: {error}; is it a verl-agent checkout that runs here?") from error
    merged: list[Any] = []
    run, program.run_ppo = program.run_ppo, merged.append
    arguments, sys.argv = sys.argv, [str(program.__file__), *evaluation.overrides.arguments()]
    try:
        program.main()
    finally:
        program.run_ppo, sys.argv = run, arguments
    return merged[0]


class CheckoutEnvironment:
    """The validation environments of a checkout. They go to their next games at each reset, so games are repeated by new
    environments that are reset as often."""

    def __init__(self, evaluation: EvaluationSettings) -> None:
        self._config = merged_configuration(evaluation)
        self._make_envs = importlib.import_module(f"{evaluation.program.rpartition('.')[0]}.env_manager").make_envs
        self.count = int(self._config.data.val_batch_size)
        self._infos: dict[int, list[dict[str, Any]]] = {}
        self._manager: Any = None
        self._resets = 0

    def start(self, round: int, trial: int) -> Views:
        if trial == 1:
            self._infos = {}
        if self._manager is None or self._resets >= round:
            self._close()
            _, self._manager = self._make_envs(self._config)
            self._resets = 0
        while self._resets < round:
            observations, _ = self._manager.reset(kwargs={})
            self._resets += 1
        self._begun: set[int] = set()
        return _views(observations)

    def step(self, responses: Mapping[int, str]) -> Outcome:
        observations, rewards, done, infos = self._manager.step([responses.get(game, "") for game in range(self.count)])
        for game in responses:
            if game not in self._begun:
                self._begun.add(game)
                self._infos[game] = []
            self._infos[game].append(infos[game])
        return Outcome(
            _views(observations), [float(one) for one in rewards], [bool(one) for one in done],
            [bool(info["is_action_valid"]) for info in infos],
            [action_of(responses.get(game, "")) for game in range(self.count)],
        )

    def metrics(self, returns: list[float]) -> dict[str, float]:
        """Those of the evaluation, by its own evaluator, over the last trial of each game."""
        infos = [self._infos[game] for game in range(self.count)]
        success = self._manager.success_evaluator(
            total_infos=infos, total_batch_list=[[{"active_masks": True} for _ in one] for one in infos],
        )
        # As the evaluation has it: over the steps, not over the games.
        scores = [total for total, one in zip(returns, infos) for _ in one]
        means = {f"val/{name}": float(values.mean()) for name, values in success.items()}
        return {**means, "val/text/test_score": sum(scores) / len(scores)}

    def _close(self) -> None:
        if self._manager is not None:
            self._manager.close()


def _views(observations: Mapping[str, Any]) -> Views:
    return Views(list(observations["text"]), [str(one) for one in observations["anchor"]])
