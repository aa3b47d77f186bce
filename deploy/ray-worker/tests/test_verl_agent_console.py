"""What the trainer's console tells: stages, steps, checkpoints, and the likely cause of an end or a delay."""

import pytest

from echelon_rayworker.engines.verl_agent import causes, console
from echelon_rayworker.engines.verl_agent.console import CheckpointDone, Console, Notice, StageReached, StepDone

PREFIX = "\x1b[36m(TaskRunner pid=123, ip=10.0.0.2)\x1b[0m "
START = ["config", "Using dataset class: CaptureDataset", "Total training steps: 4", "colocated worker base class <c>"]


def facts(reader: Console, *lines: str) -> list:
    return [fact for line in lines for fact in reader.read(PREFIX + line)]


def stages(found: list) -> list[str]:
    return [fact.name for fact in found if isinstance(fact, StageReached)]


def test_prefixes_colours_and_repetition_marks_are_stripped():
    assert console.plain(PREFIX + "step:1 - a:0.100\n") == ("TaskRunner", "step:1 - a:0.100")
    assert console.plain("(WorkerDict pid=9) x [repeated 3x across cluster]") == ("WorkerDict", "x")
    assert console.plain("plain line") == ("", "plain line")


def test_metric_names_may_hold_spaces_and_colons():
    text = "actor/lr:0.000 - webshop_task_score (not success_rate):0.333 - odd:name:1.000 - nan:nan - word:x"
    values = console.metrics_of(text)
    assert values["webshop_task_score (not success_rate)"] == 0.333 and values["odd:name"] == 1.0
    assert values["nan"] != values["nan"] and "word" not in values


def test_a_training_from_its_first_line_to_its_last():
    reader = Console()
    assert stages(facts(reader, *START)) == [console.ENVIRONMENTS, console.LOADING]
    assert facts(reader, "Training from scratch") == [StageReached("step 1 of 4", 1, 4)]
    assert facts(reader, "compute_step_discounted_returns", "noise") == []
    assert stages(facts(reader, "test_gen_batch meta info: {}")) == [console.VALIDATING]
    assert stages(facts(reader, "local_global_step_folder: /c/global_step_1")) == [console.SAVING]
    done = facts(reader, "step:1 - a:0.500")
    assert done == [CheckpointDone(1, "/c/global_step_1"), StepDone(1, {"a": 0.5}), StageReached("step 2 of 4", 2, 4)]
    assert stages(facts(reader, "step:4 - a:0.500")) == []


def test_a_resumed_training_says_at_which_step_it_continues():
    reader = Console(steps=4)
    facts(reader, *START)
    assert facts(reader, "Setting global step to 2") == [Notice("resumed after step 2"), StageReached("step 3 of 4", 3, 4)]


def test_an_evaluation_never_reaches_a_step():
    reader = Console(evaluates=True)
    found = facts(reader, *START, "Setting global step to 160", "test_gen_batch meta info: {}", "step:160 - val/a:0.5")
    assert stages(found) == [console.ENVIRONMENTS, console.LOADING, console.VALIDATING]


def test_a_checkpoint_that_the_trainer_did_not_live_to_confirm_is_not_reported():
    reader = Console(steps=4)
    found = facts(reader, *START, "Training from scratch", "local_global_step_folder: /c/global_step_1")
    assert not [one for one in found if isinstance(one, CheckpointDone)]
    assert reader.finished() == [CheckpointDone(1, "/c/global_step_1")]


def test_the_capture_hook_is_working_only_if_it_sees_its_spool():
    reader = Console()
    assert facts(reader, "echelon-capture: installed, spool writable")[1:] == [] and reader.hook == "working"
    reader = Console()
    facts(reader, "echelon-capture: installed, spool not visible here: /x")
    assert reader.hook == "installed, spool not visible here: /x"


def test_missing_games_are_said():
    (_, notice) = facts(Console(), "Training with 0 games")
    assert "data is missing" in notice.text


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("ValueError: Total available GPUs 1 is less than total desired GPUs 2", "fewer free GPUs"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried", "micro batch"),
        ("KeyError: 'old_log_probs'", "use_kl_in_reward"),
        ("Key 'hgpoo' is not in struct", "hgpoo: "),
        ("ModuleNotFoundError: No module named 'alfworld'", "alfworld: "),
        ("HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/m'.", "model cannot be"),
        ("OSError: Incorrect path_or_model_id: '/m'. Please provide either the path to", "model cannot be"),
        ("TimeoutError: Failed to get register_center_actor x_register_center in list_named_actors", "workers did not"),
    ],
)
def test_the_cause_of_an_end(line: str, word: str):
    assert word in causes.cause_of_end(["noise", PREFIX + line])


@pytest.mark.parametrize(
    "line",
    [
        "something else",
        # What the recipe prints in every run: its configuration, its overrides, and that it waits.
        "              'ray_wait_register_center_timeout': 300,",
        "Error executing job with overrides: ['trainer.ray_wait_register_center_timeout=600']",
        "Waiting for register center actor x_register_center to be ready. Elapsed time: 0 seconds out of 300 seconds.",
    ],
)
def test_an_unknown_end_has_no_cause(line: str):
    assert causes.cause_of_end([PREFIX + line]) == ""


def test_the_cause_of_a_delay_names_the_cpus():
    facts = {"cpusTotal": 16.0, "cpusAvailable": 0.4, "pendingPlacementGroups": 1}
    text = causes.cause_of_delay(console.LOADING, "", 28.6, facts)
    assert "28.6 are wanted; the cluster has 16, 0.4 of them free" in text
    other = causes.cause_of_delay(console.LOADING, "the GPU workers", 8, {**facts, "pendingPlacementGroups": 0})
    assert "register centre" in other
    for stage in (console.CONNECTING, console.ENVIRONMENTS, console.SAVING, console.VALIDATING, "step 1 of 4"):
        assert causes.cause_of_delay(stage, "", 8, {})


def test_patience_grows_with_the_slowest_step():
    assert causes.patience_seconds("step 2 of 4", 10) == causes.STEP_PATIENCE_SECONDS
    assert causes.patience_seconds("step 2 of 4", 3600) == 5 * 3600
