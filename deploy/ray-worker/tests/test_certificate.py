"""The ray-worker's own certificate: made once for its hosts, and good for TLS with nothing but itself trusted."""

import shutil
import stat
from pathlib import Path

import grpc
import pytest
from conftest import Client, Server

from echelon_rayworker.certificate import ensure_certificate, is_loopback

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@needs_openssl
def test_is_made_once_and_again_for_other_hosts(tmp_path: Path) -> None:
    state = tmp_path / "state"
    cert, key = ensure_certificate(str(state), ["10.0.0.1", "node.example", ""])
    first = Path(cert).read_text()
    assert "BEGIN CERTIFICATE" in first and stat.S_IMODE(Path(key).stat().st_mode) == 0o600
    assert ensure_certificate(str(state), ["node.example", "10.0.0.1"]) == (cert, key)
    assert Path(cert).read_text() == first
    ensure_certificate(str(state), ["10.0.0.2"])
    assert Path(cert).read_text() != first


@needs_openssl
def test_a_client_that_trusts_only_it_is_served(tmp_path: Path) -> None:
    cert, key = ensure_certificate(str(tmp_path / "state"), ["127.0.0.1"])
    server = Server(tmp_path / "state", "--tls-cert", cert, "--tls-key", key)
    try:
        credentials = grpc.ssl_channel_credentials(Path(cert).read_bytes())
        client = Client(server.endpoint["address"], server.token, credentials)
        assert client.describe().generation == server.endpoint["generation"]
        client.close()
    finally:
        server.stop()


def test_without_openssl_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ensure_certificate(str(tmp_path / "state"), ["10.0.0.1"]) is None


def test_loopback_needs_none() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("10.0.0.1", "0.0.0.0", "::", "node.example")))
