"""Real games of AlfWorld in the environments of a real verl-agent checkout, on a real Ray. Run by test_verl_agent_games.py."""

import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator

import pytest
from alfworld_games import make_games, walkthrough
from omegaconf import OmegaConf
from ray_nodes import OneNode

import ray
from echelon_rayworker.engines.prompt import checkout
from echelon_rayworker.engines.verl_agent import evaluations, launcher, panel, process_setup, staging

CHECKOUT = os.environ["VERL_AGENT_CHECKOUT"]
GAMES, WORKERS, REPLICATES = 7, 3, 2


def configuration(seed: int) -> Any:
    """What the recipe's `make_envs` and the evaluation read."""
    return OmegaConf.create({
        "env": {
            "env_name": "alfworld/AlfredTWEnv", "seed": seed, "history_length": 2, "max_steps": 8, "rollout": {"n": 1},
            "resources_per_worker": {"num_cpus": 0.1}, "alfworld": {"eval_dataset": "eval_in_distribution"},
        },
        "data": {"train_batch_size": 1, "val_batch_size": WORKERS},
        "trainer": {"val_out": False, "val_only": False},
        "actor_rollout_ref": {"rollout": {"name": "vllm", "val_kwargs": {"temperature": 0.4, "do_sample": True}}},
    })  # fmt: skip


def response(task_step: int, number: int) -> str:
    """Solves every game but those of the third place, whose mug it never takes: every fourth response, from the second, is no action."""
    if number % 3 == 2 and task_step % 4 == 1:
        return "I look around."
    return f"<think>t</think><action>{walkthrough(number)[task_step % 4]}</action>"


def play(manager: Any, rounds: int) -> None:
    """As the trainer's rollout plays a validation: all environments together, until all are done."""
    for _ in range(rounds):
        _, infos = manager.reset(kwargs={})
        numbers = [int(info["extra.gamefile"].split("trial_T")[1].split("/")[0]) for info in infos]
        done, steps, seen = [False] * WORKERS, [[] for _ in numbers], [[] for _ in numbers]
        for at in range(8):
            active = [not one for one in done]
            _, rewards, ended, infos = manager.step([response(at, number) for number in numbers])
            for place, info in enumerate(infos):
                steps[place].append({"active_masks": active[place], "rewards": float(rewards[place])})
                seen[place].append(info)
                done[place] = done[place] or bool(ended[place])
            if all(done):
                break
        manager.success_evaluator(total_infos=seen, total_batch_list=steps, episode_rewards=None, episode_lengths=None)


@ray.remote
def validated(seed: int, rounds: int) -> list[Any]:
    """Two validations in a process of the job, as the trainer's: what each reports, and the games that a training begins with."""
    from recipe.hgpo.env_manager import make_envs

    config = configuration(seed)
    training, manager = make_envs(config)
    reports: list[Any] = []
    games = evaluations.Games(config, lambda action: action())
    games.follow(manager)
    for step in (1, 2):
        play(manager, rounds)
        games.report(manager, lambda *arguments: reports.append(arguments), step)
    first = training.reset(kwargs={})[1][0]["extra.gamefile"]
    training.close(), manager.close()
    return [*reports, first]


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two data roots with the same games, made in another order."""
    made = []
    for numbers in (range(GAMES), range(GAMES - 1, -1, -1)):
        root = tmp_path_factory.mktemp("alfworld")
        make_games(root, numbers, "valid_seen")
        make_games(root, range(20, 22), "train")
        made.append(root)
    return made


def connected(one_node: OneNode, attempt: Path, root: Path, with_panel: bool) -> None:
    """Connects as the engine's launcher does."""
    os.environ["RAY_ADDRESS"] = one_node.address
    os.environ["ALFWORLD_DATA"] = str(root)
    attempt.mkdir(parents=True)
    staging.stage_hook(str(attempt))
    tests = str(Path(__file__).parent)
    path = os.pathsep.join([CHECKOUT, tests, str(Path(tests).parent)])
    variables = {"PYTHONPATH": path, "ALFWORLD_DATA": str(root), "VERL_AGENT_CHECKOUT": CHECKOUT}
    if with_panel:
        panel.alfworld_panel(str(root), "seen", None, GAMES, REPLICATES).write(str(attempt))
        variables[process_setup.PANEL_VARIABLE] = str(attempt / panel.FILE)
    launcher.connect(variables, {})


@pytest.fixture
def sources() -> Iterator[None]:
    """The checkout's sources stay as they are."""
    files = [path for path in Path(CHECKOUT).rglob("*.py")]
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}
    yield
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files} == before


def test_each_game_is_played_once_per_replicate_and_two_machines_have_one_digest(
    one_node: OneNode, roots: list[Path], tmp_path: Path, sources: None
) -> None:
    rounds = -(-GAMES * REPLICATES // WORKERS)
    digests, results = set(), []
    for number, (root, seed) in enumerate(zip(roots, (0, 77))):
        connected(one_node, tmp_path / str(number), root, with_panel=True)
        *reports, first = ray.get(validated.remote(seed, rounds))
        ray.shutdown()
        assert "/train/" in first
        for step, (reported, games, name, digest, decoding) in enumerate(reports, start=1):
            counted = Counter((one["game"], one["replicate"]) for one in games)
            assert len(games) == GAMES * REPLICATES == len(counted) and set(counted.values()) == {1}
            assert (reported, name, decoding["engine seed"]) == (step, "alfworld-seen", 0) and len(digest) == 64
            digests.add(digest)
            results.append(sorted((one["game"], one["success"], one["steps"], one["invalid_steps"]) for one in games))
    assert len(digests) == 1 and all(one == results[0] for one in results)
    files = panel.files_below(str(roots[0] / "json_2.1.1" / "valid_seen"))
    assert digests == {panel.digest_of({name: panel.content_digest(path) for name, path in files.items()})}
    # By the responses above.
    lost = {game: (steps, invalid) for game, success, steps, invalid in results[0] if not success}
    assert {game.split("trial_T")[1] for game in lost} == {"2", "5"} and set(lost.values()) == {(8, 2)}, lost
    assert {steps for _, success, steps, _ in results[0] if success} == {4}


def test_without_a_panel_the_games_are_drawn_and_the_evaluation_says_so(one_node: OneNode, roots: list[Path], tmp_path: Path) -> None:
    connected(one_node, tmp_path / "a", roots[0], with_panel=False)
    *reports, _ = ray.get(validated.remote(5, 5))
    ray.shutdown()
    _, games, name, digest, decoding = reports[0]
    assert (name, digest, decoding["seed of the drawn games"]) == ("sampled alfworld", "", 1005)
    assert len(games) == 15 and len({one["game"] for one in games}) <= GAMES


def test_the_prompt_engine_plays_real_games(one_node: OneNode, roots: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the merging of the configuration is not the checkout's: it needs the packages of the whole trainer."""
    connected(one_node, tmp_path / "a", roots[0], with_panel=False)
    monkeypatch.syspath_prepend(CHECKOUT)
    monkeypatch.setattr(checkout, "merged_configuration", lambda evaluation: configuration(3))
    environment = checkout.CheckoutEnvironment(SimpleNamespace(program="recipe.hgpo.main_hgpo"))  # type: ignore[arg-type]
    views = environment.start(1, 1)
    assert environment.count == WORKERS and all("Your task is to: put a mug in desk" in one for one in views.anchors)
    assert all("'go to desk 1'" in prompt for prompt in views.prompts)
    numbers = [one for one in range(3)]
    done, returns = [False] * WORKERS, [0.0] * WORKERS
    places = ("shelf 1", "bed 1", "cabinet 1")
    commands = [command for place in places for command in (f"go to {place}", f"take mug 1 from {place}")]
    for command in [*commands, "go to desk 1", "move mug 1 to desk 1"]:
        active = [number for number in numbers if not done[number]]
        outcome = environment.step({number: f"<think>t</think><action>{command}</action>" for number in active})
        for number in active:
            done[number], returns[number] = outcome.done[number], returns[number] + outcome.rewards[number]
            assert outcome.valid[number] and outcome.actions[number] == command
    assert done == [True] * WORKERS and returns == [10.0] * WORKERS
    assert environment.metrics(returns)["val/success_rate"] == 1.0
    again = environment.start(1, 2)
    assert again.anchors == views.anchors, "a second trial of a round has the same games"
    environment._close()
    ray.shutdown()
