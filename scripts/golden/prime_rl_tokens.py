"""Token exports as prime-rl's own `TokenExporter` writes them: two ranks with three micro-batches each, and a wrong one.

    python scripts/golden/prime_rl_tokens.py SOURCES DIRECTORY

published.py says what SOURCES holds. `metrics.jsonl` has the values that its trainer logs: means of the tensors of `default_loss_fn` and of
the entropies. Each rank has one more micro-step, which trains no token, as padding does. In `wrong`, one importance ratio and one clip
flag are changed after the export, and the reported entropy is a mean of means. `threshold` and `ipo` are runs with other losses; in
`weights`, `rl_weights` scale the losses of tokens and leave some of them away.
"""

import atexit
import json
import math
import pathlib
import shutil
import sys
import types

import torch
from published import load

from step_batches import Step

FUNCTIONS = (
    "TokenExporter", "_export_columns", "_compute_export_tensors", "_tensor_to_ints", "_tensor_to_bools", "_tensor_to_floats",
    "_optional_tensor_to_floats", "_optional_tensor_to_bools", "_check_lengths", "_slice_columns", "_trim_padding", "_json_float",
    "_first_non_empty",
)  # fmt: skip


def exporter():
    losses = load(
        "prime-rl", "src/prime_rl/trainer/rl/loss.py", "compute_importance_ratio_and_mismatch_kl", "_safe_mean", "default_loss_fn",
        "ipo_loss_fn", LossOutputs=types.SimpleNamespace,
    )  # fmt: skip
    config = type("DefaultLossConfig", (types.SimpleNamespace,), {})
    known = dict(
        SCHEMA_VERSION=1, DefaultLossConfig=config, Path=pathlib.Path, json=json, math=math, atexit=atexit,
        compute_importance_ratio_and_mismatch_kl=losses["compute_importance_ratio_and_mismatch_kl"],
    )
    space = load("prime-rl", "src/prime_rl/trainer/rl/token_export.py", *FUNCTIONS, **known)
    taus = dict(adv_tau=1.0, kl_tau=1e-3)
    configs = {
        "right": config(dppo_mask_low=0.2, dppo_mask_high=0.2, **taus),
        "threshold": config(dppo_mask_low=0.05, dppo_mask_high=0.1, **taus),
        "weights": config(dppo_mask_low=0.2, dppo_mask_high=0.2, **taus),
        "ipo": types.SimpleNamespace(ipo_threshold=0.1, **taus),
    }
    return space["TokenExporter"], configs, losses


def write(to, name):
    make, configs, losses = exporter()
    config = configs[name]
    loss_fn = losses["ipo_loss_fn" if name == "ipo" else "default_loss_fn"]
    losses_of, entropies = [], []
    # Sequences begin with a prompt token, as packed ones do.
    step = Step(6000, ranks=2, micro_batches=3, rows=4)
    step.mask[:, 0] = 0
    weights = torch.tensor([1.0, 0.5, 2.0, 0.0])[torch.arange(step.mask.numel()) % 4].view(step.mask.shape) if name == "weights" else None
    trained = step.mask.bool() if weights is None else step.mask.bool() & (weights != 0)
    for k, place in enumerate(step.layout):
        if place["index"] == 0:
            out = make(pathlib.Path(to), place["rank"])
        rows = step.rows_of(k).tolist()
        packed = lambda x: torch.cat([x[row, : step.lengths[row]] for row in rows])[None]
        ids = packed(torch.arange(step.mask.numel()).view(step.mask.shape))
        micro_batch = dict(
            input_ids=ids, position_ids=ids, loss_mask=packed(step.mask).bool(),
            advantages=packed(step.advantage[:, None].expand_as(step.mask)), inference_logprobs=packed(step.old),
            env_names=["math"] * ids.shape[1], rl_weights=None if weights is None else packed(weights),
        )
        model = dict(logprobs=packed(step.log_prob), entropy=packed(step.entropy))
        out.export(3, place["index"], micro_batch, model, step.lengths[rows].tolist(), config)
        inputs = [
            types.SimpleNamespace(
                trainer_logprobs=step.log_prob[row], inference_logprobs=step.old[row], loss_mask=trained[row],
                loss_weights=None if weights is None else weights[row], advantages=step.advantage[row].expand(step.mask.shape[1]),
            )
            for row in rows
        ]  # fmt: skip
        losses_of.append(sum(loss_fn(one, config).loss for one in inputs) / trained.sum())
        entropies.append(model["entropy"][micro_batch["loss_mask"]])
    means = {
        "loss/mean": torch.stack([*losses_of, *[torch.zeros(())] * 2]).mean().item(),
        "entropy/all/mean": torch.cat(entropies).mean().item(),
    }
    lines = [{"step": 3, "perf/throughput": 1.0}, {"step": 3, **means}, {"step": 4, "loss/mean": 9.0, "entropy/all/mean": 9.0}]
    pathlib.Path(to, "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return torch.stack([own.mean() for own in entropies]).mean().item()


def main(to):
    mean_of_means = write(f"{to}/right", "right")
    write(f"{to}/threshold", "threshold")
    write(f"{to}/ipo", "ipo")
    write(f"{to}/weights", "weights")
    shutil.copytree(f"{to}/right", f"{to}/wrong", dirs_exist_ok=True)
    path = pathlib.Path(f"{to}/wrong/token_exports/step_3/rank_1.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    at = lines[0]["loss_mask"].index(True)
    lines[0]["importance_ratio"][at] *= 1.0001
    lines[1]["is_masked"][lines[1]["loss_mask"].index(True)] ^= True
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    metrics = pathlib.Path(f"{to}/wrong/metrics.jsonl")
    known = [json.loads(line) for line in metrics.read_text().splitlines()]
    known[1]["entropy/all/mean"] = mean_of_means
    metrics.write_text("".join(json.dumps(line) + "\n" for line in known))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[2])
