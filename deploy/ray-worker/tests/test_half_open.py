"""A connection whose other end is gone without a word, and a client that no longer answers, are noticed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE_ROOT, Server, until

SILENT_CLIENT = """
import sys, grpc
from echelon_rayworker.gen import rayworker_pb2 as pb
channel = grpc.insecure_channel(sys.argv[1])
call = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"")
next(call)
print("attached", flush=True)
next(call)
"""


def connections(pid: int, port: int) -> int:
    """Connections that a process accepted on its port and still holds."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            continue
    count = 0
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            established = fields[3] == "01"
            count += established and int(fields[1].rpartition(":")[2], 16) == port and f"socket:[{fields[9]}]" in inodes
    return count


@pytest.mark.slow
def test_the_server_lets_go_of_a_client_that_answers_no_ping(server: Server) -> None:
    port = int(server.endpoint["address"].rpartition(":")[2])
    client = subprocess.Popen(
        [sys.executable, "-c", SILENT_CLIENT, server.endpoint["address"]], stdout=subprocess.PIPE, cwd=PACKAGE_ROOT,
        text=True,
    )
    assert client.stdout.readline() == "attached\n"
    assert connections(server.process.pid, port) == 1
    # Its kernel continues to acknowledge data: TCP alone never notices.
    client.send_signal(signal.SIGSTOP)
    until(lambda: connections(server.process.pid, port) == 0, seconds=30)
    client.kill()
    client.wait()
