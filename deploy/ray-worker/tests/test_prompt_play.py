"""Whole evaluations of the scripted agent: methods, resume, budget, trajectories."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import until
from prompt_support import Reports, scripted, settings
from spec_support import arguments_in, content_of, launch_of
from verl_agent_support import STANDIN, verl_agent_launch

from echelon_rayworker.engines.local.house import Game
from echelon_rayworker.engines.prompt import client, texts
from echelon_rayworker.engines.prompt.__main__ import evaluate
from echelon_rayworker.engines.prompt.checkout import variables_of
from echelon_rayworker.engines.prompt.errors import BudgetError, OtherPromptError, RefusedByEndpointError
from echelon_rayworker.engines.prompt.responses import FILE, Call, Response, Responses
from echelon_rayworker.engines.prompt.settings import settings_of
from echelon_rayworker.engines.verl_agent.settings import settings_of as evaluation_settings

SOLVED = [Game(f"held-out/1/{number}").task.state != "hot" for number in range(8)]


def played(server, *arguments: str) -> Reports:
    reports = Reports()
    asyncio.run(evaluate(settings(server.base_url, *arguments), reports))
    return reports


def test_the_success_rate_is_that_of_the_agent_on_the_games_of_the_local_evaluation() -> None:
    with scripted() as server:
        reports = played(server)
    metrics = reports.values[-1]
    assert 0 < sum(SOLVED) < 8
    assert metrics["val/success_rate"] == sum(SOLVED) / 8
    assert metrics["episode/valid_action_ratio"] == 1
    paid = metrics["calls/responses"]
    assert server.counts() == {"requests": paid, "paid": paid, "repeated": 0}
    assert metrics["cost/total"] == pytest.approx((metrics["tokens/prompt"] + 2 * metrics["tokens/completion"]) / 1e6)


def test_reflexion_tries_failed_games_again_with_what_was_learned() -> None:
    with scripted() as server:
        metrics = played(server, "method.name=reflexion", "method.trials=3").values[-1]
    assert metrics["val/trial_1/success_rate"] == sum(SOLVED) / 8
    assert metrics["val/trial_2/success_rate"] == metrics["val/success_rate"] == 1


def test_rounds_are_averaged() -> None:
    with scripted() as server:
        reports = played(server, "evaluation.rounds=2")
    assert [values["val/success_rate"] for values in reports.values] == [sum(SOLVED) / 8] * 2
    assert len(reports.batches) == 2


def test_react_sees_its_own_reasoning_and_act_does_not(tmp_path: Path) -> None:
    with scripted() as server:
        played(server, "method.name=act", f"experiment_dir={tmp_path}")
        assert "Your reasoning in your last steps" not in server.last_prompt
        played(server, "method.name=react", "environment.history_length=2", "environment.max_steps=4")
        head, *thoughts, blank = server.last_prompt.splitlines()[:4]
    assert head == "Your reasoning in your last steps, oldest first:" and blank == ""
    assert all(one.startswith("- The next step towards the ") for one in thoughts)


def test_trajectories_are_a_batch_with_actions_and_without_advantages() -> None:
    from echelon_rayworker.gen import batch_pb2

    with scripted() as server:
        reports = played(server)
    [(wire, rows)] = reports.batches
    batch = batch_pb2.AdvantageBatch.FromString(wire)
    assert batch.rows == rows == reports.values[-1]["calls/responses"]
    assert batch.reported_advantage == b"" and len(batch.trajectory_names) == 8
    assert any(text.startswith("go to ") for text in batch.action_texts)
    assert any("Your task is to: " in text for text in batch.observation_texts)


def test_a_second_run_uses_the_record_and_pays_nothing(tmp_path: Path) -> None:
    with scripted() as server:
        first = played(server, f"experiment_dir={tmp_path}", "method.name=reflexion", "method.trials=2")
        paid = server.counts()["paid"]
        second = played(server, f"experiment_dir={tmp_path}", "method.name=reflexion", "method.trials=2")
        assert server.counts()["paid"] == paid
    assert second.values[-1]["calls/replayed"] == paid
    different = {name for name, value in first.values[-1].items() if second.values[-1][name] != value}
    assert different == {"calls/replayed"}


def test_a_record_of_other_prompts_is_refused(tmp_path: Path) -> None:
    with scripted() as server:
        played(server, f"experiment_dir={tmp_path}")
        with pytest.raises(OtherPromptError, match="episode 1.0, trial 1, step 0: the recorded response"):
            played(server, f"experiment_dir={tmp_path}", "environment.seed=2")


def test_no_paid_call_is_repeated_after_kill_9(tmp_path: Path) -> None:
    """Calls that are under way are held back, unpaid, when the process dies."""
    with scripted() as server:
        content = content_of(
            "prompt", f"model.base_url={server.base_url}", "model.name=scripted", "environment.history_length=30",
            "evaluation.games=8", "model.price.input=1", "model.price.output=2",
        )  # fmt: skip
        command = [sys.executable, "-m", "echelon_rayworker.engines.prompt", *arguments_in(tmp_path / "attempt", content, tmp_path)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(lambda: server.counts()["paid"] >= 20)
        server.control({"hold": True})
        # Answers that are being sent reach the record; the next calls are held.
        until(lambda: server.waiting()["held"] == server.waiting()["inFlight"] > 0)
        until(lambda: (tmp_path / FILE).read_text().count('"text"') == server.counts()["paid"])
        process.send_signal(signal.SIGKILL)
        process.wait()
        server.control({"hold": False})
        until(lambda: server.waiting()["inFlight"] == 0)
        metrics = played(server, f"experiment_dir={tmp_path}").values[-1]
        assert server.counts()["repeated"] == 0
        assert server.counts()["paid"] == metrics["calls/responses"] > metrics["calls/replayed"] >= 20
    assert metrics["val/success_rate"] == sum(SOLVED) / 8
    # What became of the calls under way is not known to the second process: they count against the budget.
    assert metrics["cost/unaccounted"] > 0


def test_the_evaluation_stops_before_a_call_that_might_exceed_the_budget() -> None:
    with scripted() as server:
        reports = Reports()
        with pytest.raises(BudgetError, match="of the budget of 0.02 may be spent"):
            asyncio.run(evaluate(settings(server.base_url, "limits.budget=0.02", "limits.concurrency=8"), reports))
        paid = server.counts()["paid"]
    metrics = reports.values[-1]
    # A call may cost 0.002: with less than that left, and no call under way, none is made.
    assert 0.017 < metrics["cost/total"] <= 0.02
    assert metrics["calls/responses"] == paid > 0


def test_a_refusal_ends_the_evaluation_and_what_was_paid_is_recorded(tmp_path: Path) -> None:
    with scripted() as server:
        stop = threading.Thread(target=lambda: (until(lambda: server.counts()["paid"] >= 20), server.control({"always": "402"})))
        stop.start()
        with pytest.raises(RefusedByEndpointError, match="402"):
            played(server, f"experiment_dir={tmp_path}")
        stop.join()
        paid = server.counts()["paid"]
    record = Responses(str(tmp_path))
    assert len(record.all()) == paid and record.unaccounted == 0


def test_answers_without_an_action_are_invalid_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_DELAY_SECONDS", 0.001)
    with scripted() as server:
        server.control({"always": "malformed"})
        metrics = played(server, "evaluation.games=1", "environment.max_steps=2").values[-1]
    assert metrics["episode/valid_action_ratio"] == 0 and metrics["calls/malformed_answers"] == 2
    assert texts.action_of("go to kitchen") == ""
    assert texts.action_of("<think>…</think> <Action> Go  to\nKITCHEN </Action>") == "go to kitchen"


def test_the_driver_ends_with_its_cause_as_the_last_line(tmp_path: Path) -> None:
    with scripted() as server:
        server.control({"always": "401"})
        arguments = arguments_in(tmp_path, content_of("prompt", f"model.base_url={server.base_url}"), tmp_path)
        command = [sys.executable, "-m", "echelon_rayworker.engines.prompt", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "ECHELON_SPOOL": ""})
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("RefusedByEndpointError: http://127.0.0.1:")


def test_a_record_survives_a_torn_line_and_knows_calls_without_an_end(tmp_path: Path) -> None:
    record = Responses(str(tmp_path))
    first, second, third = (Call("1.0", 1, step) for step in range(3))
    for call in (first, second, third):
        record.reserve(call, 5.0)
    record.add(first, "digest", Response("text", 1, 2, 0.5))
    record.release(second)
    record.lose(third, 5.0)
    assert (record.spent, record.unaccounted) == (10.5, 10.0)
    record.close()
    with open(tmp_path / FILE, "ab") as file:
        file.write(json.dumps({"call": {}}).encode()[:5])
    again = Responses(str(tmp_path))
    assert (again.spent, again.unaccounted) == (10.5, 10.0)
    assert again.find(first, "digest").text == "text" and again.find(second, "digest") is None
    again.reserve(second, 1.0)
    again.add(second, "d2", Response("more", 1, 1, 0.25))
    again.close()
    assert Responses(str(tmp_path)).spent == 10.75


def test_the_environments_of_a_checkout_get_the_secrets_of_the_run_but_not_the_key(tmp_path: Path) -> None:
    evaluation = evaluation_settings(verl_agent_launch(tmp_path), {})
    given = {"KEY": "value of the key", "HF_TOKEN": "another", "ECHELON_HIDDEN_VARIABLES": "KEY,HF_TOKEN"}
    variables = variables_of(evaluation, given, "KEY")
    assert variables["HF_TOKEN"] == "another" and "value of the key" not in str(variables)
    assert variables["PYTHONPATH"].startswith(str(STANDIN))


def test_the_environments_of_a_checkout_are_those_of_the_evaluation_in_the_plan(tmp_path: Path) -> None:
    evaluation = content_of("verl-agent", f"home={STANDIN}", plan={"phase": "eval"})
    content = content_of("prompt", "environment.name=alfworld", plan={"evaluation": evaluation})
    checkout = settings_of(launch_of(content, tmp_path, ["data.val_batch_size=2"]), {}).checkout
    assert checkout.evaluates and checkout.home == str(STANDIN) and checkout.environments == 2
    assert settings_of(launch_of(content_of("prompt"), tmp_path), {}).checkout is None
