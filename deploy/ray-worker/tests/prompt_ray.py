"""A prompted agent in the environments of a checkout, on a real Ray. Run by test_one_node_ray.py."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

from conftest import PACKAGE_ROOT
from prompt_support import scripted
from ray_nodes import OneNode
from spec_support import arguments_in, content_of
from verl_agent_support import verl_agent_content


def rooms_agent(prompt: str) -> str:
    """Looks for the key of the stand-in's game in room 0, 1 and 2, and carries it to room 0."""
    step = int(prompt.partition("Step ")[2].partition(".")[0]) if "Step " in prompt else 0
    return f"<action>{0 if 'You hold the key.' in prompt else (3, 1, 3, 2)[step % 4]}</action>"


def test_a_prompted_agent_plays_the_validation_environments_of_a_checkout(one_node: OneNode, tmp_path: Path) -> None:
    """In four steps the agent finds a key in room 0 or 1. Each round has new games, and a second trial the same ones."""
    games, key_in = 4, [[random.Random(f"{1000 + game}.{round}").randrange(3) for game in range(4)] for round in (1, 2)]
    rates = [sum(place < 2 for place in rooms) / games for rooms in key_in]
    assert 0 < rates[0] != rates[1] > 0 and min(rates) < 1
    own = [
        "environment.name=alfworld", "environment.max_steps=4", "evaluation.split=unseen", f"evaluation.games={games}",
        "evaluation.rounds=2", "method.name=reflexion", "method.trials=2", "model.name=rooms", "model.api_key=A_KEY",
    ]  # fmt: skip
    overrides = [f"data.val_batch_size={games}", "env.seed=0", "env.rollout.n=1", "trainer.val_only=True"]
    with scripted(rooms_agent) as server:
        evaluation = {"evaluation": verl_agent_content(*overrides)}
        content = content_of("prompt", f"model.base_url={server.base_url}", *own, plan=evaluation)
        arguments = [*arguments_in(tmp_path, content, tmp_path, tmp_path), "--", *overrides]
        command = [sys.executable, "-m", "echelon_rayworker.engines.prompt", *arguments]
        variables = {"RAY_ADDRESS": one_node.address, "A_KEY": "secret-value", "ECHELON_HIDDEN_VARIABLES": "A_KEY"}
        done = subprocess.run(
            command, cwd=PACKAGE_ROOT, env={**os.environ, **variables}, capture_output=True, text=True, timeout=200,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        output = dict(re.findall(r"(\S+):(\S+)", done.stdout.strip().splitlines()[-1]))
        counts = server.counts()
    # That a second run pays nothing: test_prompt_play.py.
    assert counts["paid"] == int(output["calls/responses"]) and counts["repeated"] == 0
    assert float(output["val/success_rate"]) == sum(rates) / 2
    assert {"val/trial_1/success_rate", "val/find_the_key_success_rate", "val/text/test_score"} <= output.keys()
