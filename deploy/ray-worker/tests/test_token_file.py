"""The file that holds the ray-worker's token."""

import pytest

from echelon_rayworker.server import read_token


def test_a_token_file_comes_before_the_environment(tmp_path):
    file = tmp_path / "token"
    file.write_text("from-the-file\n")
    assert read_token("", str(file), {"ECHELON_RAY_WORKER_TOKEN": "other"}) == "from-the-file"


def test_an_empty_token_file_is_refused_with_a_sentence(tmp_path):
    file = tmp_path / "token"
    file.write_text("\n")
    with pytest.raises(SystemExit, match=f"the token file {file} is empty"):
        read_token("", str(file), {"ECHELON_RAY_WORKER_TOKEN": "other"})
