"""For tests of the verl-agent engine: what a spool holds, and what the verifier says of its batches."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from conftest import PACKAGE_ROOT
from spec_support import content_of, launch_of

from echelon_capture.format import write_batch_file
from echelon_rayworker.engines.spec import Launch
from echelon_rayworker.gen import batch_pb2
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.reports import SpooledBatch
from echelon_rayworker.spooltail import SpoolTail

REPOSITORY = PACKAGE_ROOT.parents[1]
STANDIN = Path(__file__).parent / "standin"


def verl_agent_content(*overrides: str, fields: tuple[str, ...] = (), **plan: Any) -> dict[str, Any]:
    """What a plan with these overrides has in its file; ``fields`` of its spec, and ``plan``: besides the spec."""
    given = dict(one.split("=", 1) for one in overrides)
    phase = "eval" if given.get("trainer.val_only") == "True" else "train"
    steps = int(given.get("trainer.total_epochs", 0)) if phase == "train" else 0
    derived = {"phase": phase, "steps": steps, "diskBytes": 0, **plan}
    return content_of("verl-agent", f"home={STANDIN}", *fields, plan=derived)


def verl_agent_launch(root: Path, *overrides: str, fields: tuple[str, ...] = (), **plan: Any) -> Launch:
    """A launch with these overrides; its checkpoints are in `checkpoints` below the experiment's directory."""
    content = verl_agent_content(*overrides, fields=fields, **plan)
    return launch_of(content, root, [f"trainer.default_local_dir={root}/checkpoints", *overrides])


class Reports:
    """Everything that was reported to a spool directory, by kind."""

    def __init__(self, directory: Path) -> None:
        tail = SpoolTail(str(directory))
        self.events: list[pb.AttemptEvent] = []
        self.batches: list[batch_pb2.AdvantageBatch] = []
        while not tail.idle:
            for report in tail.poll():
                if isinstance(report, SpooledBatch):
                    self.batches.append(batch_pb2.AdvantageBatch.FromString(bytes(report.data)))
                else:
                    assert isinstance(report, pb.AttemptEvent), report
                    self.events.append(report)
        tail.close()
        self.events.sort(key=lambda event: event.time_unix_ms)

    def of(self, kind: str) -> list[Any]:
        return [getattr(event, kind) for event in self.events if event.WhichOneof("body") == kind]

    @property
    def stages(self) -> list[str]:
        return [stage.name for stage in self.of("stage")]

    @property
    def metrics(self) -> dict[int, dict[str, float]]:
        return {one.step: dict(one.values) for one in self.of("metrics")}


def arguments_of(message: batch_pb2.AdvantageBatch) -> dict[str, Any]:
    """The arguments of build_batch that give this batch."""
    digests = [message.observation_digests[i : i + 16].hex() for i in range(0, len(message.observation_digests), 16)]
    columns: dict[str, Any] = {
        "group": [message.group_names[one] for one in np.frombuffer(message.group, "<i4")],
        "trajectory": [message.trajectory_names[one] for one in np.frombuffer(message.trajectory, "<i4")],
        "observation": [digests[one] for one in np.frombuffer(message.observation, "<i4")] if digests else None,
    }
    for name, field, kind in (
        ("step", "step", "<i4"), ("reward", "reward", "<f8"), ("action_valid", "action_valid", "u1"),
        ("token_level_reward_sum", "token_level_reward_sum", "<f8"), ("response_length", "response_length", "<i4"),
        ("step_reward", "reported_step_reward", "<f4"), ("advantage", "reported_advantage", "<f4"),
    ):  # fmt: skip
        if data := getattr(message, field):
            columns[name] = np.frombuffer(data, kind).tolist()
    if message.token_offset:
        columns["tokens"] = _tokens_of(message)
    return {
        **columns,
        "name": message.name,
        "estimator": _stated(message.estimator),
        "provenance": {field.name: value for field, value in message.provenance.ListFields()},
    }


def _tokens_of(message: batch_pb2.AdvantageBatch) -> dict[str, Any]:
    starts = np.frombuffer(message.token_offset, "<i4")[1:-1]
    fields = {"mask": ("token_mask", "u1"), "reward": ("token_reward", "<f4"), "value": ("token_value", "<f4"),
              "advantage": ("reported_token_advantage", "<f4")}  # fmt: skip
    return {
        column: np.split(np.frombuffer(data, kind), starts)
        for column, (field, kind) in fields.items()
        if (data := getattr(message, field))
    }


def _stated(estimator: batch_pb2.Estimator) -> dict[str, Any]:
    names = ("name", "gamma", "invalid_action_penalty", "precision", "forms")
    common = {name: getattr(estimator, name) for name in names if getattr(estimator, name) != ""}
    own = {_snake(one.name): getattr(one, one.WhichOneof("value")) for one in estimator.parameters}
    return {**common, **own}


def _snake(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def verify(batches: list[batch_pb2.AdvantageBatch], path: Path) -> dict[str, Any]:
    """What `echelon verify --json` says of the batches."""
    return verify_arguments([arguments_of(batch) for batch in batches], path)


def verify_arguments(batches: list[dict[str, Any]], path: Path) -> dict[str, Any]:
    write_batch_file(path, batches)
    node = REPOSITORY / "node_modules" / ".bin" / "node"
    done = subprocess.run(
        [str(node), "src/cli/main.ts", "verify", str(path), "--json"],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout, done.stderr[-2000:]
    return json.loads(done.stdout)


class Mapping(dict):
    __getattr__ = dict.__getitem__


CONFIG = Mapping(
    algorithm=Mapping(gamma=0.5, filter_groups=Mapping(enable=False)),
    actor_rollout_ref=Mapping(actor=Mapping(invalid_action_penalty_coef=0.1)),
    env=Mapping(rollout=Mapping(n=2)),
    data=Mapping(train_batch_size=1),
)
