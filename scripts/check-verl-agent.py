"""Proves on a real verl-agent checkout, mostly on the CPU, that the engine fits it; see check-verl-agent.ts.

    python scripts/check-verl-agent.py --home DIR [--gpu] [--node NODE]

Runs the recipe's own code: its dataset hook, its gathering of rollouts, its returns, penalties and advantages, and its
merged configuration. Prints one line a check and ends with `N passed, N failed, N skipped`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any, Callable
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
RAY_WORKER = ROOT / "deploy" / "ray-worker"
RECIPES = [
    f"qwen2.5_{size}_{environment}_{phase}"
    for size in ("1.5b", "7b") for environment in ("alfworld", "webshop") for phase in ("train", "eval")
]  # fmt: skip
# Heavy packages that no check needs; an empty module replaces a missing one.
STUBBED = ("vllm", "flash_attn", "sglang", "wandb", "fastapi", "uvicorn", "starlette", "aiohttp", "openai", "peft",
           "accelerate", "cachetools", "liger_kernel", "PIL", "gymnasium", "torchvision")  # fmt: skip
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


class Skipped(Exception):
    """A check that cannot be made here."""


def check(name: str, action: Callable[[], str]) -> None:
    try:
        outcome, text = "passed", action()
    except Skipped as reason:
        outcome, text = "skipped", str(reason)
    except Exception as error:  # noqa: BLE001 - the other checks continue
        outcome, text = "failed", f"{type(error).__name__}: {error}"
    COUNTS[outcome] += 1
    print(f"{outcome:7} {name}: {text}", flush=True)


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Empty modules for missing heavy packages."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        top = name.split(".")[0]
        if top not in STUBBED or (path is None and importlib.machinery.PathFinder.find_spec(name) is not None):
            return None
        self.used.add(top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: mock.MagicMock(name=f"{spec.name}.{name}")  # type: ignore[method-assign]
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        return None


def merged(home: Path, overrides: list[str], of: tuple[str, str] = ("recipe/hgpo/config", "hgpo_trainer")) -> Any:
    """The configuration of the recipe, or of another program, with overrides in it, merged by Hydra itself."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    GlobalHydra.instance().clear()
    folder, name = of
    with initialize_config_dir(str(home / folder), version_base=None):
        return compose(name, overrides=overrides)


def plan(node: str, name: str, *flags: str) -> dict[str, Any]:
    done = subprocess.run(
        [node, "src/cli/main.ts", "plan", "--recipe", name, *flags, "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if done.returncode != 0:
        if "unknown command" in done.stderr:
            raise Skipped("this version has no `echelon plan`")
        raise RuntimeError(done.stderr.strip()[-300:])
    return json.loads(done.stdout)


def check_plan(home: Path, node: str, name: str, *flags: str) -> str:
    planned = plan(node, name, *flags)
    overrides = [one for one in planned["overrides"] if not one.startswith("hydra.")]
    faithful_eval = flags and name.endswith("_eval")
    try:
        config = merged(home, [filled(one) for one in overrides])
    except Exception as error:  # noqa: BLE001
        raise AssertionError(str(error).strip().splitlines()[0]) from None
    assert faithful_eval or planned["program"] == "recipe.hgpo.main_hgpo", planned["program"]
    return f"{len(overrides)} overrides, all in the merged configuration (estimator {config.algorithm.adv_estimator})"


def preset_specs(node: str) -> dict[str, list[dict[str, Any]]]:
    """Every training with verl-agent of every preset, and an evaluation of each."""
    done = subprocess.run(
        [node, "src/cli/main.ts", "presets", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    specs = {
        preset["name"]: [
            spec for run in preset["runs"] for spec in (run["train"], *run["evaluations"][:1])
            if spec["engine"] == "verl-agent"
        ]
        for preset in json.loads(done.stdout)
    }  # fmt: skip
    return {name: own for name, own in specs.items() if own}


def check_preset(home: Path, node: str, specs: list[dict[str, Any]]) -> str:
    estimators = set()
    for spec in specs:
        done = subprocess.run(
            [node, "src/cli/main.ts", "plan", "-", "--json"], cwd=ROOT, input=json.dumps(spec), capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        overrides = [one for one in json.loads(done.stdout)["overrides"] if not one.startswith("hydra.")]
        try:
            config = merged(home, [filled(one) for one in overrides])
        except Exception as error:  # noqa: BLE001
            raise AssertionError(f"{spec['name']}: {str(error).strip().splitlines()[0]}") from None
        estimators.add(str(config.algorithm.adv_estimator))
    return f"{len(specs)} plans, all keys in the merged configuration ({', '.join(sorted(estimators))})"


def filled(override: str) -> str:
    """Placeholders replaced by plain paths; in a script's own words some stand without quotes."""
    for name in ("home", "attemptDir", "experimentDir", "sharedRoot", "checkpointsDir", "evalExperimentName"):
        override = override.replace(f"{{{name}}}", "/tmp/k2_x")
    return override.replace("{seed}", "123").replace("{historyLength}", "2")


class Rollout:
    """Rows as the environments give them: a few states that recur, wins at the end, some invalid actions."""

    def __init__(self, torch: Any, np: Any, groups: int, size: int, steps: int, width: int, seed: int) -> None:
        chance = random.Random(seed)
        generator = torch.Generator().manual_seed(seed)
        self.lists, self.rewards, self.lengths, self.names = [], [], [], []
        for trajectory in range(groups * size):
            group, length = trajectory // size, chance.randint(1, steps)
            won, place = chance.random() < 0.4, 0
            rows = []
            for step in range(steps):
                place = chance.choice((place, place, (place + 1) % 7, chance.randrange(7)))
                tokens = torch.randint(0, 1000, (width,), generator=generator)
                mask = torch.zeros(2 * width, dtype=torch.int64)
                mask[: width + chance.randint(1, width)] = 1
                rows.append({
                    "responses": tokens, "prompts": tokens, "input_ids": torch.cat([tokens, tokens]),
                    "attention_mask": mask, "position_ids": mask, "uid": f"g{group}", "traj_uid": f"t{trajectory:05}",
                    "anchor_obs": f"game {group}, room {place}", "is_action_valid": np.bool_(chance.random() > 0.1),
                    "rewards": np.float32(10.0 if won and step == length - 1 else 0.0), "active_masks": step < length,
                    "data_source": "text", "index": trajectory,
                })  # fmt: skip
            self.lists.append(rows)
            self.rewards.append(10.0 if won else 0.0)
            self.lengths.append(float(length))
            self.names.append(f"t{trajectory:05}")


class Trainer:
    """What the capture hook reads of a trainer, on the recipe's own configuration."""

    def __init__(self, config: Any, step: int) -> None:
        self.config, self.global_steps = config, step


def rewarded(trainer: Any, core: Any, config: Any, rollout: Rollout, step: int, prepare: Callable = lambda data: data) -> Any:
    """The data of a step as compute_advantage takes it, made by the trainer's functions; `prepare` is called as soon as the rows have
    their returns."""
    import numpy as np
    import torch

    count = len(rollout.lists)
    collector = object.__new__(trainer.TrajectoryCollector)
    data = collector.gather_rollout_data(
        total_batch_list=rollout.lists, episode_rewards=np.array(rollout.rewards),
        episode_lengths=np.array(rollout.lengths), success={"success_rate": np.array([1.0] * count)},
        traj_uid=np.array(rollout.names, dtype=object), tool_callings=np.zeros(count, np.float32),
    )  # fmt: skip
    name = config.algorithm.adv_estimator
    if name in ("hgpo", "gigpo"):
        data.batch["step_rewards"] = core.compute_step_discounted_returns(batch=data, gamma=config.algorithm.gamma)
    data = prepare(data)
    data.batch["response_mask"] = trainer.compute_response_mask(data)
    scores = data.batch["responses"].float() * 0
    last = data.batch["response_mask"].sum(-1) - 1
    for row, reward in enumerate(data.non_tensor_batch["episode_rewards"]):
        scores[row, last[row]] = float(reward)
    data.batch["token_level_scores"] = scores
    data, _ = trainer.apply_invalid_action_penalty(data, 0.1)
    data.batch["token_level_rewards"] = data.batch["token_level_scores"]
    # As the critic's: the first token of the padding has a value, the later ones have none.
    seen = data.batch["attention_mask"][:, -scores.shape[1] - 1 : -1]
    data.batch["values"] = torch.randn(scores.shape, generator=torch.Generator().manual_seed(step)) * seen
    return data


def one_step(modules: Any, hook: Any, config: Any, rollout: Rollout, step: int, device: str) -> None:
    """A step up to its advantages, in the order of the recipe's fit, with the recipe's functions."""
    data = rewarded(modules.trainer, modules.core, config, rollout, step)
    if device != "cpu":
        data = data.to(device)
    hook.trainer = Trainer(config, step)
    algorithm = config.algorithm
    modules.trainer.compute_advantage(
        data, adv_estimator=algorithm.adv_estimator, gamma=algorithm.gamma, lam=algorithm.lam, num_repeat=1,
        norm_adv_by_std_in_grpo=algorithm.norm_adv_by_std_in_grpo, multi_turn=False,
        step_advantage_w=algorithm.gigpo.step_advantage_w, gigpo_mode=algorithm.gigpo.mode,
        hgpo_mode=algorithm.hgpo.mode, hgpo_length_weight_alpha=algorithm.hgpo.length_weight_alpha,
        hgpo_base_group=algorithm.hgpo.base_group, history_length=config.env.history_length, epsilon=1e-6,
        use_pf_ppo=algorithm.use_pf_ppo, pf_ppo_reweight_method=algorithm.pf_ppo.reweight_method,
        pf_ppo_weight_pow=algorithm.pf_ppo.weight_pow,
    )  # fmt: skip


SETTINGS = [
    *(["hgpo", f"algorithm.hgpo.mode={mode}", f"algorithm.hgpo.base_group={base}", f"env.history_length={length}"]
      for mode in ("mean_std_norm", "mean_norm") for base in (True, False) for length in (2, 4)),
    ["gigpo", "algorithm.gigpo.mode=mean_std_norm"], ["gigpo", "algorithm.gigpo.mode=mean_norm"],
    *([name, f"algorithm.norm_adv_by_std_in_grpo={by_std}"] for name in ("grpo", "grpo_passk") for by_std in (True, False)),
    ["rloo"], ["reinforce_plus_plus_baseline"],
    *(["gae", f"algorithm.gamma={gamma}", f"algorithm.lam={lam}"] for gamma, lam in ((1, 1), (1, 0.95), (0.99, 0.9))),
    *(["reinforce_plus_plus", f"algorithm.gamma={gamma}"] for gamma in (1, 0.99)),
]  # fmt: skip
# Rows are filled up to a multiple of the micro batches of four GPUs.
OWN = ["trainer.n_gpus_per_node=4", "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8",
       "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=8", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8"]  # fmt: skip
SIZES = ["algorithm.gamma=0.95", "data.train_batch_size=4", "env.rollout.n=8"]


class Checks:
    """All checks of one checkout; `spool` is where the capture hook reports."""

    def __init__(self, home: Path, node: str, directory: Path) -> None:
        self.home, self.node, self.directory = home, node, directory
        self.spool = directory / "spool"
        self.spool.mkdir()
        os.environ["ECHELON_SPOOL"] = str(self.spool)
        self.stubs = Stubs()
        self.capture_hook: Any = None
        self.modules = types.SimpleNamespace()

    def imports(self) -> str:
        sys.meta_path.append(self.stubs)
        self.modules.trainer = importlib.import_module("recipe.hgpo.hgpo_ray_trainer")
        self.modules.core = importlib.import_module("recipe.hgpo.core_hgpo")
        self.modules.main = importlib.import_module("recipe.hgpo.main_hgpo")
        return f"empty modules stood in for: {', '.join(sorted(self.stubs.used)) or 'nothing'}"

    def hook(self) -> str:
        from echelon_rayworker.engines.verl_agent import datafiles, staging, hook

        path = staging.stage_hook(str(self.directory))
        rows = str(self.directory / "train.parquet")
        datafiles.write_rows(rows, datafiles.rows_of(16, "train"))
        config = merged(self.home, [f"data.custom_cls.path={path}", "data.custom_cls.name=CaptureDataset"])
        before = self.modules.trainer.compute_advantage
        sets = [self.modules.main.create_rl_dataset(rows, config.data, None, None) for _ in range(2)]
        assert [len(one) for one in sets] == [16, 16] and type(sets[0]).__name__ == "CaptureDataset"
        self.capture_hook = hook.current()
        after = self.modules.trainer.compute_advantage
        assert self.capture_hook is not None and after is not before and after.__wrapped__ is before, "not wrapped once"
        return "create_rl_dataset loaded it twice, wrapped once; the recipe's dataset reads our 16 rows"

    def advantages(self, device: str) -> str:
        import numpy as np
        import torch
        from verl_agent_support import Reports, verify

        before = Reports(self.spool)
        for step, (name, *overrides) in enumerate(SETTINGS, start=1):
            config = merged(self.home, [f"algorithm.adv_estimator={name}", *SIZES, *overrides])
            one_step(self.modules, self.capture_hook, config, Rollout(torch, np, 4, 8, 20, 16, step), step, device)
        assert self.capture_hook.reporter.flush(60) and not self.capture_hook.failures and not self.capture_hook.reporter.failures
        after = Reports(self.spool)
        batches, gaps = after.batches[len(before.batches) :], after.of("gap")[len(before.of("gap")) :]
        assert len(batches) == len(SETTINGS) and not gaps, f"{len(batches)} batches of {len(SETTINGS)}, {gaps}"
        reports = verify(batches, self.directory / "batches.json.gz")["batches"]
        total = {key: sum(one[key] for one in reports) for key in ("rows", "exact", "rounding", "wrong", "unverifiable")}
        bad = [(SETTINGS[place], one["wrong"], one["findings"]) for place, one in enumerate(reports) if not one["ok"]]
        assert total["wrong"] == total["unverifiable"] == 0 and not bad, f"{total}, {bad}"
        return f"{len(batches)} batches on {device}: " + ", ".join(f"{value} {key}" for key, value in total.items())

    def own_trainer(self) -> str:
        """verl-agent's own trainer (`verl.trainer.main_ppo`) through echelon-capture: it pads and balances before the advantages."""
        import numpy as np
        import torch
        from verl_agent_support import Reports, verify

        import echelon_capture
        from echelon_capture import verl

        trainers = importlib.import_module(verl.TRAINER_MODULE)
        core = importlib.import_module("gigpo.core_gigpo")
        settings = [one for one in SETTINGS if one[0] != "hgpo"]
        runs = [(one, balance) for one in settings for balance in (True, False)]

        def fit(trainer: Any) -> None:
            """The steps up to their advantages, in the order of the trainer's own fit, with its functions."""
            for trainer.global_steps, ((name, *overrides), balance) in enumerate(runs, start=1):
                step, size = trainer.global_steps, [f"algorithm.adv_estimator={name}", *SIZES, *OWN, *overrides]
                trainer.config = config = merged(self.home, size, ("verl/trainer/config", "ppo_trainer"))

                def prepare(data: Any) -> Any:
                    data = trainers.adjust_batch(config, data)
                    if balance:
                        trainer._balance_batch(data, metrics={})
                    return data

                data = rewarded(trainers, core, config, Rollout(torch, np, 4, 8, 20, 16, step), step, prepare)
                algorithm = config.algorithm
                trainers.compute_advantage(
                    data, adv_estimator=name, gamma=algorithm.gamma, lam=algorithm.lam,
                    norm_adv_by_std_in_grpo=algorithm.get("norm_adv_by_std_in_grpo", True), use_pf_ppo=algorithm.use_pf_ppo,
                    step_advantage_w=algorithm.gigpo.step_advantage_w, gigpo_mode=algorithm.gigpo.mode,
                    gigpo_enable_similarity=algorithm.gigpo.enable_similarity,
                )  # fmt: skip

        before = Reports(self.spool)
        trainers.RayPPOTrainer.fit = fit
        verl.follow()
        trainer = object.__new__(trainers.RayPPOTrainer)
        trainer.actor_rollout_wg = types.SimpleNamespace(world_size=4)
        trainer.fit()
        assert echelon_capture.close(60)
        after = Reports(self.spool)
        batches, gaps = after.batches[len(before.batches) :], after.of("gap")[len(before.of("gap")) :]
        assert len(batches) == len(runs) and not gaps, f"{len(batches)} batches of {len(runs)}, {gaps}"
        reports = verify(batches, self.directory / "own.json.gz")["batches"]
        bad = [(runs[place], one["wrong"], one["unverifiable"], one["findings"]) for place, one in enumerate(reports) if not one["ok"]]
        assert not bad, bad
        prepared = [one["fingerprint"].split("rows=")[1] for one in reports]
        assert prepared == ["padded-balanced)" if balance else "padded)" for _, balance in runs], prepared
        copies = sum(batch.rows - batch.provenance.rows_collected for batch in batches)
        return f"{len(batches)} batches, {sum(one['rows'] for one in reports)} rows with {copies} copies: all ok"

    def others(self) -> str:
        import numpy as np
        import torch
        from verl_agent_support import Reports

        config = merged(self.home, ["algorithm.adv_estimator=gae", "algorithm.use_pf_ppo=True", *SIZES])
        one_step(self.modules, self.capture_hook, config, Rollout(torch, np, 4, 8, 20, 16, 1), 1, "cpu")
        assert self.capture_hook.reporter.flush(60)
        (gap,) = Reports(self.spool).of("gap")
        assert gap.reason == "not verifiable: use_pf_ppo draws the rows again after the advantages", gap.reason
        return "use_pf_ppo is recorded as not verifiable, with the reason"

    def metrics(self) -> str:
        from verl_agent_support import Reports

        tracking = importlib.import_module("verl.utils.tracking").Tracking("p", "e", "console")
        tracking.log(data={"actor/lr": 1e-6, "webshop_task_score (not success_rate)": 1 / 3, "text": "x"}, step=7)
        assert self.capture_hook.reporter.flush(60)
        values = Reports(self.spool).metrics[7]
        assert values["actor/lr"] == 1e-6 and values["webshop_task_score (not success_rate)"] == 1 / 3, values
        assert "text" not in values
        return "Tracking.log at full precision, keys with spaces"

    def values_of_critic(self) -> str:
        """The trainer's own division of rows among the GPUs, without and with the hook's filling up."""
        import torch

        from echelon_rayworker.engines.verl_agent import hook

        protocol = importlib.import_module("verl.protocol")

        class Critic:
            world_size = 4

            def compute_values(self, data: Any) -> Any:
                parts = [part.batch["rows"] * 2 for part in data.chunk(chunks=self.world_size)]
                return protocol.DataProto.from_dict(tensors={"values": torch.cat(parts)})

        critic = Critic()
        data = protocol.DataProto.from_dict(tensors={"rows": torch.arange(10)})
        try:
            critic.compute_values(data)
        except AssertionError:
            hook._pad_values(types.SimpleNamespace(critic_wg=critic))
            values = critic.compute_values(data).batch["values"]
            assert values.tolist() == [2 * row for row in range(10)], values
            return "10 rows on 4 GPUs: verl refuses them, and with the hook the trainer gets its 10 values"
        raise AssertionError("verl divides any number of rows by now: the hook's filling up is not needed")

    def constants(self) -> str:
        """What the preflight and the findings take for granted, in the checkout's own text."""
        from echelon_rayworker.engines.verl_agent import datasets

        def text(path: str) -> str:
            return (self.home / path).read_text(encoding="utf-8")

        engine = text("agent_system/environments/env_package/webshop/webshop/web_agent_site/engine/engine.py")
        manager = text("recipe/hgpo/env_manager.py")
        after = engine.split("num_products is None:", 1)[1].splitlines()[1]
        assert f"'{datasets.WEBSHOP_INDEX}'" in after and "'num_products': None" in manager, after
        utils = text("agent_system/environments/env_package/webshop/webshop/web_agent_site/utils.py")
        assert datasets.WEBSHOP_HUMAN in utils and engine.count("open(HUMAN_ATTR_PATH)") > engine.count("if human_goals:\n        with open")
        for name in (one for names in datasets.WEBSHOP_FILES.values() for one in names):
            assert f"'{name}'" in manager, name
        config = merged(self.home, [])
        assert config.actor_rollout_ref.rollout.max_num_batched_tokens == 8192
        rollout = text("verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py")
        assert "not config.enforce_eager and config.free_cache_engine" in rollout
        saving = text("verl/utils/checkpoint/fsdp_checkpoint_manager.py")
        assert saving.index("remove_previous_save_local_path(self.prev") < saving.index("torch.save(model_state_dict")
        merger = text("scripts/model_merger.py")
        assert all(f'"{one}"' in merger for one in ("merge", "--backend", "--local_dir", "--target_dir"))
        assert '"lora_adapter"' in text("verl/workers/fsdp_workers.py")
        return "WebShop's files and index, vLLM's limits, the order of saving, the arguments of the export"

    def placement(self) -> str:
        """What the capture hook wraps to let verl's placement groups go to the allocated nodes."""
        base = importlib.import_module("verl.single_controller.ray.base")
        made = getattr(base, "placement_group", None)
        assert getattr(made, "__module__", "") == "ray.util.placement_group", f"placement_group is {made!r}"
        called = (self.home / "verl/single_controller/ray/base.py").read_text(encoding="utf-8")
        assert "placement_group(bundles=bundles" in called, "verl makes its placement groups in another way by now"
        return "verl.single_controller.ray.base makes its groups with the placement_group that the hook wraps"

    def overhead(self, device: str) -> str:
        import numpy as np
        import torch

        from echelon_rayworker.engines.verl_agent import hook

        # Of a GPU the capture hook records no batch of HGPO.
        name = "hgpo" if device == "cpu" else "gigpo"
        config = merged(self.home, [f"algorithm.adv_estimator={name}", "data.train_batch_size=16", "env.rollout.n=8"])
        rollout = Rollout(torch, np, 16, 8, 50, 512, 1)
        rows = int(sum(rollout.lengths))
        after, serialize = [], hook.capture.serialize

        def timed(*arguments: Any, **keywords: Any) -> bytes:
            begin = time.thread_time()
            try:
                return serialize(*arguments, **keywords)
            finally:
                after.append(time.thread_time() - begin)

        with mock.patch.object(hook.capture, "serialize", timed):
            # The least of three: what else the machine does is not the capture hook's.
            steps = []
            for step in range(100, 103):
                self.capture_hook._seconds, start = 0.0, time.perf_counter()
                one_step(self.modules, self.capture_hook, config, rollout, step, device)
                steps.append((self.capture_hook._seconds, time.perf_counter() - start))
                assert self.capture_hook.reporter.flush(120)
            waited, took = min(steps)
        # The shortest step anyone reports is over two minutes (12 h for 160 steps on two H100: 270 s).
        assert waited < 0.01 * 120, f"{waited:.2f} s in the trainer's thread"
        return (
            f"{rows} rows of 512 tokens: {waited * 1000:.0f} ms in the trainer's thread ({waited / 270:.3%} of a step "
            f"of 270 s), {after[0] * 1000:.0f} ms of processor time after it; the recipe's part took {took - waited:.1f} s"
        )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True, type=Path)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--node", default=str(ROOT / "node_modules" / ".bin" / "node"))
    options = parser.parse_args()
    home = options.home.resolve()
    sys.path[:0] = [str(RAY_WORKER / "tests"), str(RAY_WORKER), str(ROOT / "deploy" / "capture"), str(home)]
    os.chdir(home)
    with tempfile.TemporaryDirectory() as directory:
        checks = Checks(home, options.node, Path(directory))
        check("the recipe is imported", checks.imports)
        check("the capture hook is loaded by the recipe's own dataset hook", checks.hook)
        check("advantages of the recipe under the capture hook", lambda: checks.advantages("cpu"))
        check("verl-agent's own trainer under echelon-capture", checks.own_trainer)
        check("a batch that cannot be verified", checks.others)
        check("metrics", checks.metrics)
        check("a critic of several GPUs", checks.values_of_critic)
        check("constants", checks.constants)
        check("placement groups", checks.placement)
        check("the capture hook's cost", lambda: checks.overhead("cpu"))
        for name in RECIPES:
            check(f"plan {name}", lambda name=name: check_plan(home, options.node, name))
        for name, specs in preset_specs(options.node).items():
            check(f"preset {name}", lambda specs=specs: check_preset(home, options.node, specs))
        if options.gpu:
            check("advantages on the GPU", lambda: checks.advantages(gpu_device()))
            check("the capture hook's cost on the GPU", lambda: checks.overhead(gpu_device()))
    print(", ".join(f"{value} {key}" for key, value in COUNTS.items()))
    return int(COUNTS["failed"] > 0)


def gpu_device() -> str:
    import torch

    if not torch.cuda.is_available():
        raise Skipped("torch sees no GPU here")
    return "cuda"


if __name__ == "__main__":
    sys.exit(main())
