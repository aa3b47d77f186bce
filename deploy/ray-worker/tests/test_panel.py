"""Panels: which games, how often, their digest, and the hook that deals them to verl-agent's environments. Environments without Ray:
verl_agent_games.py plays real ones where their packages are installed."""

import importlib
import json
import sys
import types
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verl_agent_support import verl_agent_launch

from echelon_rayworker.engines.answers import Answer
from echelon_rayworker.engines.verl_agent import datasets, evaluations, panel, panel_hook, process_setup, settings

NAMES = [f"pick_and_place_simple-Mug-None-Desk-{kind}/trial_T{number}" for kind in range(4) for number in range(3)]


def make_games(root: Path, names: list[str], split: str = "valid_seen", solvable: bool = True) -> Path:
    """Game files in ALFWorld's places, made in the order of the names."""
    for name in names:
        directory = root / "json_2.1.1" / split / name
        directory.mkdir(parents=True)
        (directory / "traj_data.json").write_text(json.dumps({"task_type": "pick_and_place_simple"}))
        (directory / panel.GAME_FILE).write_text(json.dumps({"solvable": solvable, "game": name}))
    return root


def digest_below(root: Path) -> str:
    found = panel.files_below(str(root / "json_2.1.1" / "valid_seen"))
    return panel.digest_of({name: panel.content_digest(path) for name, path in found.items()})


def test_directories_of_another_order_have_the_same_games_and_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make_games(tmp_path / "a", NAMES), make_games(tmp_path / "elsewhere" / "b", NAMES[::-1])
    made = panel.alfworld_panel(str(one), "seen", None, len(NAMES), 1)
    walk = panel.os.walk
    # Whatever the file system answers: the second machine lists backwards.
    monkeypatch.setattr(panel.os, "walk", lambda top: sorted(walk(top), reverse=True))
    assert panel.alfworld_panel(str(other), "seen", None, len(NAMES), 1) == made
    assert list(made.games) == sorted(NAMES) and digest_below(one) == digest_below(other)
    (other / "json_2.1.1" / "valid_seen" / NAMES[5] / panel.GAME_FILE).write_text(json.dumps({"solvable": True, "game": "x"}))
    assert digest_below(one) != digest_below(other)


def test_a_panel_has_exactly_the_games_that_alfworld_plays(tmp_path: Path) -> None:
    root = make_games(tmp_path, NAMES)
    make_games(tmp_path, ["pick_and_place-movable_recep-1/trial_T1", "pick-AppleSliced-1/trial_T1"])
    make_games(tmp_path, ["pick_unsolvable-1/trial_T1"], solvable=False)
    assert panel.alfworld_panel(str(root), "seen", None, len(NAMES), 1).games == tuple(sorted(NAMES))
    with pytest.raises(panel.PanelError, match="12 games of the panel's 140"):
        panel.alfworld_panel(str(root), "seen", None, 140, 1)
    own = panel.alfworld_panel(str(root), "seen", [NAMES[4], NAMES[1]], 140, 2)
    assert (own.name, own.games, own.replicates) == ("alfworld-seen-own", (NAMES[1], NAMES[4]), 2)
    with pytest.raises(panel.PanelError, match="no solvable game pick_unsolvable-1/trial_T1"):
        panel.alfworld_panel(str(root), "seen", ["pick_unsolvable-1/trial_T1"], 140, 1)
    assert panel.webshop_panel(None, 1).games == tuple(str(one) for one in range(500))
    assert panel.webshop_panel(["10", "9"], 1).games == ("9", "10")


def test_a_preflight_states_the_panel_with_the_digest_that_an_evaluation_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_games(tmp_path / "data", NAMES)
    monkeypatch.setenv("ALFWORLD_DATA", str(root))

    def checked(*fields: str) -> list[Answer]:
        launch = verl_agent_launch(tmp_path, "env.env_name=alfworld/AlfredTWEnv", "trainer.val_only=True", fields=fields)
        return datasets.check_panel(settings.settings_of(launch, {}), Answer)

    assert checked() == []
    own = ["evaluation.split=seen", "evaluation.replicates=2", f"evaluation.panel={json.dumps(NAMES)}"]
    (found,) = checked(*own)
    assert found.ok and found.message == f"alfworld-seen-own has 12 games, each played 2 times; digest {digest_below(root)}"
    (short,) = checked(*own[:2])
    assert not short.ok and "12 games of the panel's 140" in short.message


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 17))
def test_each_game_is_played_once_per_replicate_whatever_the_number_of_environments(
    games: int, replicates: int, environments: int
) -> None:
    rounds = panel.Rounds(panel.Panel("p", tuple(f"g{one}" for one in range(games)), replicates), environments)
    for _ in range(2):  # a second validation starts from the first game again
        dealt = [place for _ in range(-(-games * replicates // environments)) for place in rounds.deal()]
        counted = Counter((place.game, place.replicate) for place in dealt if place.replicate)
        assert counted == {(f"g{game}", replicate): 1 for game in range(games) for replicate in range(1, replicates + 1)}


def test_there_is_no_digest_if_a_game_was_not_played_or_differs_between_nodes() -> None:
    rounds = panel.Rounds(panel.Panel("p", ("a", "b"), 2), 1)
    rounds.deal()
    rounds.played(["1"])
    assert rounds.digest() == ""
    rounds.deal()
    rounds.played(["2"])
    assert rounds.digest() == panel.digest_of({"a": "1", "b": "2"}) and len(rounds.digest()) == 64
    rounds.deal()
    rounds.played(["3"])
    assert rounds.digest() == "" and rounds.failure == "the game a differs between nodes"


class Remote:
    """A method of an actor, called at once."""

    def __init__(self, call: Any) -> None:
        self.remote = call


class Actor:
    """A worker of verl-agent as its actor's handle shows it."""

    def __init__(self, instance: Any) -> None:
        self.instance = instance
        self.__dict__["__ray_call__"] = Remote(lambda function, *arguments: function(instance, *arguments))


ALFWORLD_MODULE = """
import itertools
WORKERS = None
def load_config_file(path):
    return {"dataset": {"eval_id_data_path": path + "/json_2.1.1/valid_seen", "eval_ood_data_path": path + "/json_2.1.1/valid_unseen"}}
class AlfworldEnvs:
    def __init__(self, alf_config_path, seed, env_num, group_n, resources_per_worker, is_train=True, env_kwargs={}):
        self.workers = WORKERS[: env_num * group_n]
    def reset(self):
        return [next(one.instance.env._gamefiles_iterator) for one in self.workers]
"""
WEBSHOP_MODULE = """
import numpy as np
WORKERS = None
class WebshopMultiProcessEnv:
    def __init__(self, seed, env_num, group_n, resources_per_worker, is_train=True, env_kwargs=None):
        self.seeds = [seed + number for number in range(env_num * group_n)]
        self._workers = WORKERS[: env_num * group_n]
        self._rng = np.random.RandomState(seed)
        self.env_num, self.goal_idxs = env_num, range(500)
    def reset(self):
        return self._rng.choice(self.goal_idxs, size=self.env_num, replace=False).tolist()
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with modules of the real names, imported through the process setup of a job with a panel."""
    package = tmp_path / "home" / "agent_system" / "environments" / "env_package"
    for name, text in (("alfworld", ALFWORLD_MODULE), ("webshop", WEBSHOP_MODULE)):
        (package / name).mkdir(parents=True)
        (package / name / "envs.py").write_text(text)
    (tmp_path / "attempt").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "home"))
    monkeypatch.setenv(process_setup.PANEL_VARIABLE, str(tmp_path / "attempt" / panel.FILE))
    monkeypatch.setattr(panel_hook, "_ray", lambda: types.SimpleNamespace(get=lambda value: value))
    before, paths = list(sys.meta_path), list(sys.path)
    yield tmp_path
    sys.meta_path[:], sys.path[:] = before, paths
    for name in [one for one in sys.modules if one.partition(".")[0] == "agent_system"]:
        del sys.modules[name]


def loaded(checkout: Path, kind: str, played: panel.Panel, workers: list[Actor]) -> Any:
    played.write(str(checkout / "attempt"))
    process_setup.load()
    module = importlib.import_module(f"agent_system.environments.env_package.{kind}.envs")
    module.WORKERS = workers
    return module


def alfworld_workers(root: Path, count: int) -> list[Actor]:
    files = sorted((str(path) for path in root.rglob(panel.GAME_FILE)), reverse=True)
    return [
        Actor(types.SimpleNamespace(env=types.SimpleNamespace(gamefiles=files, _gamefiles_iterator=iter(files * 9))))
        for _ in range(count)
    ]


def test_the_hook_deals_the_games_to_the_validation_environments_alone(checkout: Path) -> None:
    root = make_games(checkout / "data", NAMES)
    played = panel.alfworld_panel(str(root), "seen", None, len(NAMES), 2)
    module = loaded(checkout, "alfworld", played, alfworld_workers(root, 5))
    training = module.AlfworldEnvs(str(root), 0, 5, 1, {}, is_train=True)
    assert len(set(training.reset())) == 1 and panel_hook.rounds_of(training) is None
    validation = module.AlfworldEnvs(str(root), 1000, 5, 1, {}, is_train=False, env_kwargs={"eval_dataset": "eval_in_distribution"})
    rounds = panel_hook.rounds_of(validation)
    for _ in range(2):
        files = [path for _ in range(5) for path in validation.reset()]
        assert Counter(files[:24]) == {str(root / "json_2.1.1" / "valid_seen" / name / panel.GAME_FILE): 2 for name in NAMES}
        assert rounds.digest() == digest_below(root)


def test_a_checkout_that_cannot_play_the_panel_draws_as_before(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_games(checkout / "data", NAMES)
    played = panel.Panel("alfworld-seen-own", (NAMES[0], "pick_unknown-1/trial_T1"), 1)
    module = loaded(checkout, "alfworld", played, alfworld_workers(root, 2))
    validation = module.AlfworldEnvs(str(root), 1000, 2, 1, {}, is_train=False)
    assert validation.reset() and panel_hook.rounds_of(validation) is None
    assert "not applied, the games are drawn: PanelError: the checkout does not list the game pick_unknown" in capsys.readouterr().out


def test_all_workers_of_webshop_have_the_same_goals_and_prices(checkout: Path) -> None:
    server = types.SimpleNamespace(goals=[{"instruction_text": f"goal {one}", "price_upper": 10.0 * one} for one in range(7)],
                                   product_prices={"B01": 9.5})  # fmt: skip
    env = types.SimpleNamespace(unwrapped=types.SimpleNamespace(server=server))
    module = loaded(checkout, "webshop", panel.webshop_panel(["5", "1", "3"], 2), [Actor(types.SimpleNamespace(env=env)) for _ in range(4)])
    training = module.WebshopMultiProcessEnv(7, 4, 1, {}, is_train=True)
    validation = module.WebshopMultiProcessEnv(seed=1007, env_num=4, group_n=1, resources_per_worker={}, is_train=False)
    assert set(training.seeds) == set(validation.seeds) == {233}
    assert training.reset() == module.np.random.RandomState(7).choice(range(500), size=4, replace=False).tolist()
    rounds = panel_hook.rounds_of(validation)
    assert validation.reset() + validation.reset() == [1, 3, 5, 1, 3, 5, 1, 3]
    assert [place.replicate for place in rounds.places] == [2, 2, 0, 0]
    digest = rounds.digest()
    server.goals[3]["price_upper"] = 1.0
    assert len(digest) == 64
    validation.reset()
    assert rounds.digest() == "" and rounds.failure == "the game 3 differs between nodes"


class Config(dict):
    __getattr__ = dict.__getitem__


CONFIG = Config(
    env=Config(env_name="alfworld/AlfredTWEnv", seed=7, history_length=2, max_steps=50),
    actor_rollout_ref=Config(rollout=Config(name="vllm", val_kwargs=Config(temperature=0.4, do_sample=True, top_p=1.0, top_k=-1))),
)


def rows(*games: list[tuple[float, bool]]) -> dict[str, list]:
    """What the evaluator gets: of each game its rewards and whether the action was valid; the last one wins if it has a reward."""
    longest = max(map(len, games))
    infos, steps = [], []
    for game in games:
        idle = [(0.0, False)] * (longest - len(game))
        infos.append([{"won": reward > 0, "is_action_valid": valid} for reward, valid in game + idle])
        steps.append([{"active_masks": at < len(game), "rewards": reward} for at, (reward, _) in enumerate(game + idle)])
    return {"total_infos": infos, "total_batch_list": steps}


class Manager:
    def __init__(self, envs: Any = None, tasks: Any = None) -> None:
        self.envs, self.tasks = envs, tasks

    def success_evaluator(self, **keywords: Any) -> str:
        return f"of {len(keywords['total_infos'])}"


def collected(manager: Manager, *rounds: dict[str, list], before: Any = lambda: None) -> list[Any]:
    reports: list[Any] = []
    games = evaluations.Games(CONFIG, lambda action: action())
    games.follow(manager)
    for one in rounds:
        before()
        assert manager.success_evaluator(**one) == f"of {len(one['total_infos'])}"
    games.report(manager, lambda *arguments: reports.append(arguments), 12)
    games.report(manager, lambda *arguments: reports.append(arguments), 13)
    return reports


def test_an_evaluation_has_the_result_of_each_game_with_its_invalid_steps() -> None:
    dealt = panel.Rounds(panel.Panel("alfworld-seen", ("a", "b", "c"), 1), 2)
    manager = Manager(types.SimpleNamespace(**{panel_hook.MARK: dealt}))

    def deal() -> None:
        dealt.played([f"digest of {place.game}" for place in dealt.deal()])

    first, last = rows([(0, True), (0, False), (10, True)], [(0, False)]), rows([(0, True), (0, True)], [(10, True)])
    (reported,) = collected(manager, first, last, before=deal)
    step, games, name, digest, decoding = reported
    assert (step, name, digest) == (12, "alfworld-seen", dealt.digest()) and digest
    fields = ("game", "replicate", "success", "score", "steps", "invalid_steps")
    assert [tuple(one[field] for field in fields) for one in games] == [
        ("a", 1, 1.0, 10.0, 3, 1), ("b", 1, 0.0, 0.0, 1, 1), ("c", 1, 0.0, 0.0, 2, 0),
    ]  # fmt: skip
    assert decoding == {
        "temperature": 0.4, "do_sample": True, "top_p": 1.0, "top_k": -1, "engine": "vllm", "engine seed": 0,
        "history length": 2, "max steps": 50,
    }  # fmt: skip


def test_games_that_were_drawn_are_a_sampled_panel_with_the_seed_that_drew_them() -> None:
    manager = Manager(types.SimpleNamespace(), tasks=["buy a", "buy a", "buy b"])
    (reported,) = collected(manager, rows([(10, True)], [(0, True)], [(0, False)]))
    _, games, name, digest, decoding = reported
    assert (name, digest, decoding["seed of the drawn games"]) == ("sampled alfworld", "", 1007)
    assert [one["replicate"] for one in games] == [1, 2, 1] and games[0]["game"] == games[1]["game"] != games[2]["game"]
    path = "/data/json_2.1.1/valid_seen/pick-1/trial_T1/game.tw-pddl"
    assert evaluations.drawn_name(manager, 0, {"extra.gamefile": path}) == "pick-1/trial_T1"
