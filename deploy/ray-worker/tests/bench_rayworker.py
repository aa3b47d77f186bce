"""Figures of the ray-worker on this machine: `python tests/bench_rayworker.py` (from deploy/ray-worker)."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

DEPLOY = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(DEPLOY / "ray-worker"), str(DEPLOY / "capture")]

import grpc  # noqa: E402
from conftest import Client, Server  # noqa: E402

from echelon_rayworker.eventlog import EventLogWriter, read_progress  # noqa: E402
from echelon_rayworker.eventreader import EventLogReader  # noqa: E402
from echelon_rayworker.gen import rayworker_pb2 as pb  # noqa: E402


def raw_attach(client: Client, experiment: str) -> tuple[int, int]:
    """Attaches without parsing; returns events and bytes."""
    stub = client.channel.unary_stream("/echelon.rayworker.v1.RayWorker/Attach")
    request = pb.AttachRequest(experiment=experiment, attempt=1).SerializeToString()
    sizes = [len(payload) for payload in stub(request, metadata=client.metadata)]
    return len(sizes), sum(sizes)


def append_rate(directory: str, count: int, group: int) -> float:
    log = EventLogWriter(directory)
    start = time.perf_counter()
    for number in range(count):
        log.append(pb.AttemptEvent(metrics=pb.Metrics(step=number, values={"a": 1.0, "b": 2.0, "c": 3.0})))
        if number % group == group - 1:
            log.commit()
    log.commit()
    seconds = time.perf_counter() - start
    log.close()
    return count / seconds


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    figures: dict[str, object] = {"python": sys.version.split()[0], "grpcio": grpc.__version__, "cpus": os.cpu_count()}
    with tempfile.TemporaryDirectory() as directory:
        for name, count, group in (("every", 500, 1), ("of100", 50_000, 100), ("of1000", 100_000, 1000)):
            path = os.path.join(directory, name)
            os.mkdir(path)
            figures[f"append_events_per_s_commit_{name}"] = round(append_rate(path, count, group))
        reader, start, read = EventLogReader(path, 0), time.perf_counter(), 0
        last = read_progress(path).last_sequence
        while payloads := reader.read(last):
            read += len(payloads)
        figures["read_events_per_s"] = round(read / (time.perf_counter() - start))

        server = Server(Path(directory) / "state")
        client = server.client()
        latencies = []
        for number in range(10):
            start = time.perf_counter()
            client.launch("exit=0", experiment=f"launch-{number}")
            latencies.append((time.perf_counter() - start) * 1000)
        figures["launch_ms_median"], figures["launch_ms_max"] = round(statistics.median(latencies)), round(max(latencies))

        start = time.perf_counter()
        client.launch("metrics=50000", experiment="metrics")
        events, _ = raw_attach(client, "metrics")
        figures["driver_to_client_live_metrics_per_s"] = round(events / (time.perf_counter() - start))
        start = time.perf_counter()
        events, _ = raw_attach(client, "metrics")
        figures["attach_replay_events_per_s"] = round(events / (time.perf_counter() - start))

        start = time.perf_counter()
        client.launch("batches=100x1000000", experiment="batches")
        events, size = raw_attach(client, "batches")
        figures["driver_to_client_live_batch_mb_per_s"] = round(size / 1e6 / (time.perf_counter() - start), 1)
        start = time.perf_counter()
        events, size = raw_attach(client, "batches")
        figures["attach_replay_batch_mb_per_s"] = round(size / 1e6 / (time.perf_counter() - start), 1)

        start = time.perf_counter()
        client.launch("lines=200000", experiment="lines")
        lines = sum(len(event.log.lines) for event in client.events("lines"))
        figures["log_lines_per_s"], figures["log_lines"] = round(lines / (time.perf_counter() - start)), lines

        client.launch("wait=/nonexistent", experiment="idle")
        streams = [client.attach("idle") for _ in range(20)]
        for stream in streams:
            next(stream)
        supervisor = json.loads((server.attempt_dir("idle") / "supervisor.json").read_text())["pid"]
        before = cpu_seconds(server.process.pid), cpu_seconds(supervisor)
        time.sleep(5)
        figures["idle_cpu_percent_server_20_streams"] = round((cpu_seconds(server.process.pid) - before[0]) * 20, 1)
        figures["idle_cpu_percent_supervisor"] = round((cpu_seconds(supervisor) - before[1]) * 20, 1)
        for pid, name in ((server.process.pid, "server"), (supervisor, "supervisor")):
            status = Path(f"/proc/{pid}/status").read_text()
            figures[f"rss_mb_{name}"] = int(status.partition("VmRSS:")[2].split()[0]) // 1024
        start = time.perf_counter()
        client.stop("idle")
        figures["stop_ms"] = round((time.perf_counter() - start) * 1000)
        client.close()
        server.stop()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
