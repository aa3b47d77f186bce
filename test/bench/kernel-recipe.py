"""Times the official recipe on one batch: kernel-recipe.py CHECKOUT BATCH.json ROUNDS; prints JSON. Times are CPU time of the process.

Needs numpy and torch. The recipe imports `verl` for the name of a class only, so a stand-in takes its place.
"""

import contextlib
import io
import json
import sys
import time
import types

import numpy as np
import torch

checkout, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
verl = types.ModuleType("verl")
verl.DataProto = type("DataProto", (), {})
sys.modules["verl"] = verl
sys.path.insert(0, checkout)
from recipe.hgpo import core_hgpo  # noqa: E402

torch.set_num_threads(1)
with open(path, encoding="utf-8") as file:
    batch = json.load(file)
rows = len(batch["group"])
index = np.array([f"u{g}" for g in batch["group"]], dtype=object)
trajectory = np.array([f"t{t:06d}" for t in batch["trajectory"]], dtype=object)
anchor = np.empty(rows, dtype=object)
anchor[:] = [batch["texts"][o] for o in batch["observation"]]
response_mask = torch.ones(rows, 512)
token_level_rewards = torch.zeros(rows, 512)
data = types.SimpleNamespace(
    non_tensor_batch={
        "rewards": np.array(batch["reward"], dtype=np.float32),
        "traj_uid": trajectory,
        "active_masks": np.ones(rows, dtype=bool),
    },
    batch={"input_ids": torch.zeros(1)},
)
valid = torch.tensor(batch["actionValid"], dtype=torch.float32)


def returns():
    return core_hgpo.compute_step_discounted_returns(data, 0.95) - 0.1 * (1 - valid)


def advantages(step_rewards):
    return core_hgpo.compute_hgpo_outcome_advantage(
        token_level_rewards, step_rewards, response_mask, anchor, index, trajectory,
        history_length=batch["historyLength"], mode=batch["mode"],
    )[0][:, 0]


times = {"returns": [], "advantages": []}
with contextlib.redirect_stdout(io.StringIO()):
    for _ in range(rounds):
        start = time.process_time()
        step_rewards = returns()
        between = time.process_time()
        result = advantages(step_rewards)
        times["returns"].append((between - start) * 1e9 / rows)
        times["advantages"].append((time.process_time() - between) * 1e9 / rows)

print(json.dumps({
    "torch": torch.__version__,
    "returns": times["returns"],
    "advantages": times["advantages"],
    "advantage": [float(a) for a in result],
}))
