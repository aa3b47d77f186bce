"""Dumps in the layouts of trainers that cannot be installed, with the values of their published functions, one folder a setting.

    python scripts/golden/settings.py SOURCES DIRECTORY

published.py says what SOURCES holds. Needs torch and numpy, nothing else. A trainer without sources is skipped.
"""

import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import torch
from published import REPOSITORIES, load

SIZE = 4
STEPS = 3


def draws(step, rows):
    """Rewards of a step: binary, decimal, near and equal groups."""
    make = np.random.default_rng(20261123 + step)
    kinds = [[0.0, 1.0], [0.1, 0.35, 0.7, 1.0], [0.5, 0.5002], [0.35]]
    return [float(np.float32(make.choice(kinds[row // SIZE % len(kinds)]))) for row in range(rows)]


def folder(to, trainer, setting, *below):
    path = os.path.join(to, f"{trainer}-{REPOSITORIES[trainer][1]}", setting, *below)
    os.makedirs(path, exist_ok=True)
    return path


def write(path, name, text):
    with open(os.path.join(path, name), "w") as file:
        file.write(text)


def nemo_rl(to):
    baseline = load("nemo-rl", "nemo_rl/algorithms/utils.py", "calculate_baseline_and_std_per_prompt")
    space = load("nemo-rl", "nemo_rl/algorithms/advantage_estimator.py", "GRPOAdvantageEstimator", "ReinforcePlusPlusAdvantageEstimator",
                 calculate_baseline_and_std_per_prompt=baseline["calculate_baseline_and_std_per_prompt"])  # fmt: skip
    loss = SimpleNamespace(use_kl_in_reward=False, reference_policy_kl_penalty=0.0, reference_policy_kl_type="k1")
    settings = {f"grpo-{'divided' if normalize else 'centred'}-{'others' if others else 'all'}": dict(
        name="grpo", normalize_rewards=normalize, use_leave_one_out_baseline=others,
    ) for normalize in (True, False) for others in (True, False)}  # fmt: skip
    settings |= {f"reinforce-{'baseline' if b else 'raw'}": dict(name="reinforce_plus_plus", minus_baseline=b) for b in (True, False)}
    for setting, config in settings.items():
        path = folder(to, "nemo-rl", setting)
        write(path, "config.yaml", json.dumps({"grpo": {
            "num_prompts_per_step": 8, "num_generations_per_prompt": SIZE, "adv_estimator": config,
        }}))  # fmt: skip
        for step in range(STEPS):
            rewards = draws(step, 8 * SIZE)
            lengths = [1 + (7 * row + step) % 5 for row in range(len(rewards))]
            mask = torch.tensor([[0, 0] + [1] * n + [0] * (5 - n) for n in lengths])
            prompts = torch.tensor([[row // SIZE] for row in range(len(rewards))])
            name = "GRPOAdvantageEstimator" if config["name"] == "grpo" else "ReinforcePlusPlusAdvantageEstimator"
            made = space[name](SimpleNamespace(**config), loss)
            advantages = made.compute_advantage(prompts, torch.tensor(rewards), mask)
            lines = [json.dumps({
                "rewards": [reward], "token_ids": [[100 + row // SIZE, 7, *range(5)]], "token_loss_mask": [mask[row].tolist()],
                "sample_loss_mask": [1.0], "advantages": [advantages[row].tolist()], "idx": row,
            }) for row, reward in enumerate(rewards)]  # fmt: skip
            write(path, f"train_data_step{step + 1}.jsonl", "\n".join(lines) + "\n")


def slime(to):
    post = load("slime", "slime/ray/rollout.py", "_post_process_rewards")["_post_process_rewards"]
    for setting, divides, sizes in (
        ("even", True, [SIZE] * 6), ("even-centred", False, [SIZE] * 6), ("uneven", True, [4, 4, 3, 4, 4, 2]),
        ("fewer-groups", True, [SIZE] * 5), ("uneven-centred", False, [4, 4, 3, 4, 4, 2]),
    ):  # fmt: skip
        args = dict(advantage_estimator="grpo", rewards_normalization=True, n_samples_per_prompt=SIZE, rollout_batch_size=6,
                    grpo_std_normalization=divides)  # fmt: skip
        path = folder(to, "slime", setting)
        write(path, "args.json", json.dumps(args))
        start = 0
        for rollout in range(STEPS):
            rewards = draws(rollout, sum(sizes))
            groups = [g for g, size in enumerate(sizes) for _ in range(size)]
            given = [SimpleNamespace(get_reward_value=lambda _args, x=x: x) for x in rewards]
            trainer = SimpleNamespace(custom_reward_post_process_func=None, args=SimpleNamespace(**args))
            _, normalised = post(trainer, given)
            samples = [dict(group_index=100 * rollout + g, index=start + i, reward=x) for i, (g, x) in enumerate(zip(groups, rewards))]
            trained = [
                dict(sample_index=start + i, rollout_position=i, rewards=value, loss_masks=torch.tensor([0, 1, 1], dtype=torch.int32),
                     advantages=torch.tensor([0.0, value, value]))  # fmt: skip
                for i, value in enumerate(normalised)
            ]
            torch.save(dict(rollout_id=rollout, samples=samples), os.path.join(folder(to, "slime", setting, "rollout_data"), f"{rollout}.pt"))
            torch.save(dict(rollout_id=rollout, samples=samples[:SIZE]),
                       os.path.join(folder(to, "slime", setting, "rollout_data"), f"eval_{rollout}.pt"))  # fmt: skip
            torch.save(dict(format_version=2, rollout_id=rollout, samples=trained, raw_reward=rewards),
                       os.path.join(folder(to, "slime", setting, "train_data"), f"{rollout}.pt"))  # fmt: skip
            start += len(rewards)


def ms_swift(to):
    nanstd = load("ms-swift", "swift/utils/torch_utils.py", "nanstd")["nanstd"]
    run = load("ms-swift", "swift/rl_core/advantage.py", "compute_advantages", nanstd=nanstd)["compute_advantages"]
    for estimator in ("grpo", "rloo", "reinforce_plus_plus"):
        for scale in ("group", "batch", "none"):
            path = folder(to, "ms-swift", f"{estimator.replace('_', '-')}-{scale}")
            settings = dict(advantage_estimator=estimator, scale_rewards=scale, num_generations=SIZE, generation_batch_size=8 * SIZE,
                            kl_in_reward=estimator != "grpo", beta=0.0, eval_strategy="steps", eval_steps=2, logging_steps=1)  # fmt: skip
            write(path, "args.json", json.dumps(settings))
            lines = []
            for step in range(1, STEPS + 1):
                rewards = torch.tensor(draws(step, 8 * SIZE))
                advantages, _ = run(rewards.unsqueeze(1), torch.ones(1), SIZE, estimator, scale)
                table = dict(step=[str(step)] * len(rewards), prompt=[f"p{row // SIZE}" for row in range(len(rewards))],
                             completion=["…"] * len(rewards), accuracy=rewards.tolist(), advantages=advantages.tolist())  # fmt: skip
                lines.append(json.dumps(table, ensure_ascii=False))
                if step == 2:
                    # The buffer after an evaluation of two prompts with groups of two.
                    few = torch.tensor([1.0, 0.0, 0.5, 0.0])
                    own, _ = run(few.unsqueeze(1), torch.ones(1), 2, estimator, scale)
                    kept = {key: values[4:] for key, values in table.items()}
                    after = dict(step=["2"] * 4, prompt=["e0", "e0", "e1", "e1"], completion=["…"] * 4, accuracy=few.tolist(), advantages=own.tolist())
                    lines.append(json.dumps({key: kept[key] + after[key] for key in table}, ensure_ascii=False))
            write(path, "completions.jsonl", "\n".join(lines) + "\n")


if __name__ == "__main__":
    for trainer, make in (("nemo-rl", nemo_rl), ("slime", slime), ("ms-swift", ms_swift)):
        if any(os.path.isdir(os.path.join(sys.argv[1], REPOSITORIES[trainer][0], *below)) for below in ((), ("repo",))):
            make(sys.argv[2])
        else:
            print(f"no sources of {trainer} in {sys.argv[1]}", file=sys.stderr)
