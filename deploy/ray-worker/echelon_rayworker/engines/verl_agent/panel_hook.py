"""Lets verl-agent's validation environments play a panel, without editing the checkout.

A finder waits for the modules of the environments and wraps their classes when the trainer's process imports them, which is before
`data.custom_cls` is read. Each round is dealt by `panel.Rounds`; a worker gets its game by Ray's own `__ray_call__`, so that
the workers' classes stay as they are. A failure leaves the environments as they were: the evaluation is then
recorded as a sampled panel.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import sys
from importlib.machinery import PathFinder
from typing import Any, Callable, Mapping, Optional, Sequence

from . import panel

MARK = "_echelon_rounds"
ANNOUNCEMENT = "echelon-panel:"
# Of the goals and prices of every WebShop worker: the seed of WebShop's own evaluation.
WEBSHOP_SEED = 233


def install(path: str) -> None:
    """Waits for the environments' modules. `path`: file of the panel."""
    sys.meta_path.insert(0, _Finder(path))


def rounds_of(environments: Any) -> Optional[panel.Rounds]:
    """What deals the games of patched validation environments."""
    return getattr(environments, MARK, None)


class _Finder:
    """Finds the environments' modules as the next finder does, and patches them once they are loaded."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        patch = PATCHES.get(name)
        spec = PathFinder.find_spec(name, path) if patch else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            _guarded(lambda: patch(module, panel.Panel.read(self._path)))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def patch_alfworld(module: Any, played: panel.Panel) -> None:
    """Deals the games to the validation environments of `AlfworldEnvs` at each reset."""
    environments = module.AlfworldEnvs
    _check_parameters(environments.__init__, "alf_config_path", "is_train", "env_kwargs")
    start, reset = environments.__init__, environments.reset

    @functools.wraps(start)
    def started(self: Any, *arguments: Any, **keywords: Any) -> None:
        start(self, *arguments, **keywords)
        call = _bound(start, self, arguments, keywords)
        if not call["is_train"]:
            _guarded(lambda: setattr(self, MARK, _AlfworldRounds(module, call, self.workers, played)))

    @functools.wraps(reset)
    def dealt(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if (rounds := rounds_of(self)) is not None and not rounds.failure:
            _guarded(lambda: rounds.assign(self.workers), rounds)
        return reset(self, *arguments, **keywords)

    environments.__init__, environments.reset = started, dealt


class _AlfworldRounds(panel.Rounds):
    def __init__(self, module: Any, call: Mapping[str, Any], workers: Sequence[Any], played: panel.Panel) -> None:
        super().__init__(played, len(workers))
        split = (call["env_kwargs"] or {}).get("eval_dataset", "eval_in_distribution")
        key = {"eval_in_distribution": "eval_id_data_path", "eval_out_of_distribution": "eval_ood_data_path"}[split]
        directory = os.path.expandvars(module.load_config_file(call["alf_config_path"])["dataset"][key])
        listed = _ray().get(workers[0].__ray_call__.remote(game_files))
        self._files = {panel.name_of(path, directory): path for path in listed}
        if missing := [name for name in played.games if name not in self._files]:
            raise panel.PanelError(f"the checkout does not list the game {missing[0]} below {directory}")

    def assign(self, workers: Sequence[Any]) -> None:
        """Gives each worker its game of the next round."""
        places = self.deal()
        calls = [one.__ray_call__.remote(next_file, self._files[place.game]) for one, place in zip(workers, places)]
        self.played(_ray().get(calls))


def game_files(worker: Any) -> list[str]:
    """Runs in a worker: the games that it knows."""
    return list(worker.env.gamefiles)


def next_file(worker: Any, path: str) -> str:
    """Runs in a worker: its next reset starts this game. Returns the digest of the game's file."""
    worker.env._gamefiles_iterator = itertools.repeat(path)
    return panel.content_digest(path)


class _OneSeed(int):
    """A seed to which the environments add the number of a worker: every worker gets this one."""

    def __add__(self, other: Any) -> int:
        return int(self)


def patch_webshop(module: Any, played: panel.Panel) -> None:
    """Gives all workers the same goals and prices, in training too, whose goals would otherwise be those of the panel; deals the
    goals to the validation environments. Which goals a training draws follows its own seed as before."""
    environments = module.WebshopMultiProcessEnv
    _check_parameters(environments.__init__, "seed", "is_train")
    start = environments.__init__

    @functools.wraps(start)
    def started(self: Any, *arguments: Any, **keywords: Any) -> None:
        call = _bound(start, self, arguments, keywords)
        del call["self"]
        start(self, **{**call, "seed": _OneSeed(WEBSHOP_SEED)})
        if call["is_train"]:
            self._rng = module.np.random.RandomState(call["seed"])
        else:
            rounds = _WebshopRounds(self._workers, played)
            setattr(self, MARK, rounds)
            self._rng = rounds

    environments.__init__ = started


class _WebshopRounds(panel.Rounds):
    """Stands where the validation environments draw their goals."""

    def __init__(self, workers: Sequence[Any], played: panel.Panel) -> None:
        super().__init__(played, len(workers))
        self._workers = workers

    def choice(self, goals: Sequence[int], size: int, replace: bool) -> Any:
        """The goals of the next round."""
        import numpy

        places = self.deal()
        calls = [one.__ray_call__.remote(goal_digest, int(place.game)) for one, place in zip(self._workers, places)]
        _guarded(lambda: self.played(_ray().get(calls)), self)
        return numpy.array([int(place.game) for place in places])


def goal_digest(worker: Any, goal: int) -> str:
    """Runs in a worker: the digest of a goal with the prices of all products."""
    server = worker.env.unwrapped.server
    if not hasattr(worker, "_echelon_prices"):
        worker._echelon_prices = panel.value_digest(server.product_prices)
    return panel.value_digest([server.goals[goal], worker._echelon_prices])


PATCHES: Mapping[str, Callable[[Any, panel.Panel], None]] = {
    "agent_system.environments.env_package.alfworld.envs": patch_alfworld,
    "recipe.GraphGPO.alfworld_envs": patch_alfworld,
    "agent_system.environments.env_package.webshop.envs": patch_webshop,
}


def _check_parameters(function: Callable, *names: str) -> None:
    """Raises if the checkout's environments are not as expected."""
    if missing := set(names) - set(inspect.signature(function).parameters):
        raise panel.PanelError(f"the environments of the checkout have no parameter {sorted(missing)[0]}")


def _bound(function: Callable, self: Any, arguments: tuple, keywords: dict) -> dict[str, Any]:
    bound = inspect.signature(function).bind(self, *arguments, **keywords)
    bound.apply_defaults()
    return dict(bound.arguments)


def _guarded(action: Callable[[], Any], rounds: Optional[panel.Rounds] = None) -> None:
    """Runs the action; what fails is said on the console, and the games are drawn as without a panel."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 - the panel must never fail a training
        reason = f"{type(error).__name__}: {error}"
        if rounds is not None:
            rounds.failed(reason)
        print(f"{ANNOUNCEMENT} not applied, the games are drawn: {reason}", flush=True)


def _ray() -> Any:
    import ray

    return ray
