import os
from pathlib import Path

import grpc
import pytest

from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.secretstore import SecretStore, UnusableSecret, secrets_directory

from conftest import Client, Server, until

VALUE = "canary-7f3Kq9Zx2LmP"


def put(directory: Path, name: str, value: str, mode: int = 0o600) -> None:
    directory.mkdir(mode=0o700, exist_ok=True)
    (directory / name).write_text(value)
    (directory / name).chmod(mode)


def test_a_file_counts_before_a_variable_and_is_read_anew(tmp_path: Path) -> None:
    store = SecretStore(str(tmp_path), {"ECHELON_SECRET_HF_READ": "from-variable", "OTHER": "x"})
    assert store.resolve({"HF_TOKEN": "hf-read"}) == {"HF_TOKEN": "from-variable"}
    put(tmp_path, "hf-read", "from-a-file\n")
    assert store.resolve({"HF_TOKEN": "hf-read"}) == {"HF_TOKEN": "from-a-file"}
    put(tmp_path, "hf-read", "rotated-since")
    assert store.resolve({"HF_TOKEN": "hf-read"}) == {"HF_TOKEN": "rotated-since"}


def test_a_secret_is_taken_as_kubernetes_mounts_it(tmp_path: Path) -> None:
    put(tmp_path / "..2026_01_01", "hf-read", VALUE, 0o440)
    (tmp_path / "..data").symlink_to("..2026_01_01")
    (tmp_path / "hf-read").symlink_to("..data/hf-read")
    assert SecretStore(str(tmp_path), {}).resolve({"HF_TOKEN": "hf-read"}) == {"HF_TOKEN": VALUE}


@pytest.mark.parametrize(
    ("value", "mode", "why"),
    [
        (VALUE, 0o604, "chmod 0600"), (VALUE, 0o620, "chmod 0600"), ("short", 0o600, "fewer than 6"),
        (VALUE + "\0", 0o600, "NUL"), ("x" * 70_000, 0o600, "larger than"),
    ],
)
def test_a_file_that_others_may_read_or_that_cannot_be_hidden_is_refused(
    tmp_path: Path, value: str, mode: int, why: str
) -> None:
    put(tmp_path, "one", value, mode)
    with pytest.raises(UnusableSecret, match=why) as refused:
        SecretStore(str(tmp_path), {}).resolve({"A_TOKEN": "one"})
    assert "'one'" in str(refused.value) and VALUE not in str(refused.value)


@pytest.mark.parametrize("reference", ["../token", "/etc/passwd", "", "a/b", ".hidden"])
def test_a_reference_leads_nowhere_else(tmp_path: Path, reference: str) -> None:
    with pytest.raises(UnusableSecret):
        SecretStore(str(tmp_path), {}).resolve({"A": reference})


def test_the_directory_is_the_option_then_the_variable_then_the_state_s(tmp_path: Path) -> None:
    environment = {"ECHELON_SECRETS_DIR": "/b"}
    assert secrets_directory("/a", environment, "/state") == "/a"
    assert secrets_directory("", environment, "/state") == "/b"
    assert secrets_directory("", {}, "/state") == "/state/secrets"


def launch(client: Client, *arguments: str, **options) -> pb.LaunchResponse:
    return client.launch(*arguments, secrets={"WANDB_API_KEY": "wandb"}, **options)


@pytest.mark.own_server
def test_a_missing_secret_is_said_before_anything_is_done(server: Server, client: Client) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        launch(client, "print=never")
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert "'wandb'" in refused.value.details() and "0600" in refused.value.details()
    assert client.list() == []
    # The remedy helps, under the same number.
    put(server.state_dir / "secrets", "wandb", VALUE)
    assert launch(client, "print=now").outcome == pb.LaunchResponse.STARTED


def test_a_secret_reaches_the_driver_alone(server: Server, client: Client) -> None:
    put(server.state_dir / "secrets", "wandb", VALUE)
    gate = server.state_dir / "gate"
    assert launch(
        client, f"stage=with {VALUE} in it", f"checkpoint=at/{VALUE}", "metrics-named=WANDB_API_KEY", "pid=",
        f"print=hi {VALUE}", "environment=WANDB_API_KEY", f"error=Traceback: {VALUE}", f"wait={gate}", f"raise=no: {VALUE}",
    ).outcome == pb.LaunchResponse.STARTED
    supervisor = server.identity()["pid"]
    assert VALUE.encode() not in Path(f"/proc/{supervisor}/environ").read_bytes()
    assert VALUE.encode() not in Path(f"/proc/{supervisor}/cmdline").read_bytes()
    # The driver itself has it: what it prints is masked, not missing.
    driver = server.identity()["driverPid"]
    assert f"WANDB_API_KEY={VALUE}".encode() in Path(f"/proc/{driver}/environ").read_bytes()
    # While the driver runs its spool is on disk, too. Fails without the masking in spool.py.
    until(lambda: client.list()[0].last_sequence >= 6)
    on_disk = [
        path for path in server.state_dir.glob("experiments/**/*")
        if path.is_file() and VALUE.encode() in path.read_bytes() and path.name != "launch.bin"
    ]
    assert on_disk == []
    gate.touch()
    events = client.events()
    assert VALUE not in str(events) and str(events).count("***") >= 6
    assert "WANDB_API_KEY=***" in str(events)
