"""Secret variables go into a file, and not to Ray. hidden_ray.py tests the processes of a job."""

import json
from pathlib import Path

from echelon_rayworker import launch
from echelon_rayworker.engines.verl_agent import hidden

VALUE = "canary-Vx81kQz03Lp"


def test_what_is_secret_goes_into_the_file_and_the_rest_to_ray(tmp_path: Path) -> None:
    variables = {
        "WANDB_API_KEY": VALUE, "MINE": "plan-secret", "HF_HOME": "/hf", "HTTPS_PROXY": "http://u:pa55@proxy:1",
        "ECHELON_HIDDEN_VARIABLES": "MINE",
    }
    shown = hidden.hide(variables, str(tmp_path))
    path = tmp_path / launch.HIDDEN_FILE
    assert shown == {
        "HF_HOME": "/hf", "ECHELON_HIDDEN_FILE": str(path), "ECHELON_HIDDEN_VARIABLES": "HTTPS_PROXY,MINE,WANDB_API_KEY",
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text()).keys() == {"WANDB_API_KEY", "MINE", "HTTPS_PROXY"}
    launch.forget_hidden(str(tmp_path))
    launch.forget_hidden(str(tmp_path))
    assert not path.exists()


def test_nothing_is_written_if_nothing_is_secret(tmp_path: Path) -> None:
    assert hidden.hide({"HF_HOME": "/hf"}, str(tmp_path)) == {"HF_HOME": "/hf"}
    assert list(tmp_path.iterdir()) == []
