"""Arguments of an engine: strict, with the remedy named."""

import subprocess
import sys

import pytest

from conftest import PACKAGE_ROOT
from echelon_rayworker.engines.arguments import ArgumentError, Key, parse
from echelon_rayworker.engines.local.settings import KEYS, settings_of

SOME = {
    "rollout.groups": Key(8, minimum=1, maximum=256),
    "training.learning_rate": Key(0.03, minimum=0),
    "estimator.mode": Key("mean_norm", choices=("mean_norm", "mean_std_norm")),
    "hang": Key(False),
    "file": Key(""),
}


def test_what_is_not_given_has_its_default():
    assert parse([], SOME) == {key: rule.default for key, rule in SOME.items()}


def test_values_have_the_kind_of_their_key():
    given = ["rollout.groups=4", "training.learning_rate=1e-2", "hang=true", "file=/a=b"]
    values = parse([*given, "estimator.mode=mean_std_norm"], SOME)
    assert values == {
        "rollout.groups": 4, "training.learning_rate": 0.01, "hang": True, "file": "/a=b",
        "estimator.mode": "mean_std_norm",
    }  # fmt: skip
    assert isinstance(values["training.learning_rate"], float)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("rollout.group=4", "unknown key 'rollout.group'; the nearest is 'rollout.groups'"),
        ("zzz=1", "unknown key 'zzz'"),
        ("hang", "not of the form key=value"),
        ("rollout.groups=4.5", "rollout.groups must be a whole number, not '4.5'"),
        ("rollout.groups=0", "from 1 to 256"),
        ("training.learning_rate=-1", "of 0 or more"),
        ("training.learning_rate=nan", "of 0 or more"),
        ("estimator.mode=mean", "one of mean_norm, mean_std_norm"),
        ("hang=1", "true or false"),
    ],
)
def test_a_wrong_argument_names_its_remedy(argument, said):
    with pytest.raises(ArgumentError, match=said):
        parse([argument], SOME)


def test_a_key_given_twice_is_refused():
    with pytest.raises(ArgumentError, match="twice"):
        parse(["hang=true", "hang=true"], SOME)


def test_the_estimator_looks_as_far_back_as_the_policy_unless_told():
    assert settings_of(parse(["environment.history_length=4"], KEYS)).estimator.history_length == 4
    given = ["environment.history_length=4", "estimator.history_length=1"]
    assert settings_of(parse(given, KEYS)).estimator.history_length == 1


@pytest.mark.parametrize("engine", ["local", "replay"])
def test_an_engine_ends_with_code_2_and_the_nearest_key(engine):
    key = {"local": "training.step", "replay": "falt"}[engine]
    command = [sys.executable, "-m", f"echelon_rayworker.engines.{engine}", f"{key}=1"]
    done = subprocess.run(command, cwd=PACKAGE_ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert {"local": "'training.steps'", "replay": "'fault'"}[engine] in done.stderr
