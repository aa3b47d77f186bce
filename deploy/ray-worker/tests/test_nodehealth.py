"""Reads pages of Ray's agent and DCGM's exporter from a real HTTP server. `pages/ray-2.60.txt` is a part of what Ray 2.60 with its
extra `default` printed; the page of DCGM is written here in the form that dcgm-exporter 4 prints, since no GPU was at hand."""

import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Iterator

import pytest
from conftest import Client, until

from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.nodehealth import FRESH_SECONDS, Health, pages_of, read_health
from echelon_rayworker.systemmetrics import SystemMetrics

RAY_PAGE = (Path(__file__).parent / "pages" / "ray-2.60.txt").read_text()
# What DCGM prints for a figure that the GPU does not have.
BLANK = 9223372036854775794


def dcgm_page(gpus: dict[int, dict[str, int]]) -> str:
    lines = []
    for field in sorted({name for figures in gpus.values() for name in figures}):
        lines += [f"# HELP DCGM_FI_DEV_{field} {field}.", f"# TYPE DCGM_FI_DEV_{field} gauge"]
        for gpu, figures in ((gpu, one) for gpu, one in gpus.items() if field in one):
            labels = f'gpu="{gpu}",UUID="GPU-{gpu}",pci_bus_id="00000000:0{gpu}:00.0",device="nvidia{gpu}",modelName="NVIDIA H100 80GB HBM3"'
            code = f',err_code="{figures[field]}",err_msg="say \\"x\\""' if field == "XID_ERRORS" else ""
            lines.append(f'DCGM_FI_DEV_{field}{{{labels},Hostname="n1",DCGM_FI_DRIVER_VERSION="580.95.05"{code}}} {figures[field]}')
    return "\n".join(lines) + "\n"


WELL = {"GPU_UTIL": 80, "GPU_TEMP": 61, "MEMORY_TEMP": BLANK, "FB_FREE": 20000, "FB_USED": 60000, "XID_ERRORS": 0, "ROW_REMAP_FAILURE": 0}
OWN_FAULT = {**WELL, "XID_ERRORS": 31}  # a page fault of a program
LOST = {**WELL, "GPU_UTIL": BLANK, "GPU_TEMP": 88, "XID_ERRORS": 79, "ECC_DBE_VOL_TOTAL": 2, "ROW_REMAP_FAILURE": 1}
FAULTS = ["Xid 79 (the GPU has fallen off the bus)", "2 uncorrectable ECC errors", "a row of its memory cannot be remapped"]


@pytest.fixture
def pages() -> Iterator[dict[str, str]]:
    """Texts by path, served until the end of the test; `url` is the address of the server."""
    served: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            text = served.get(self.path)
            self.send_response(200 if text is not None else 404)
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    served["url"] = f"http://127.0.0.1:{server.server_port}"
    yield served
    server.shutdown()
    server.server_close()


def read_again(health: Health, urls: dict[str, tuple[str, ...]]) -> dict[str, pb.NodeHealth]:
    """Reports until a look that began after this call has ended, and returns the nodes' health."""
    nodes = [pb.Node(id=name, alive=True) for name in urls]

    def ended_since(moment: float) -> bool:
        health.report(nodes, urls, "")
        # An age is rounded down.
        return all(
            node.HasField("health") and time.time() - (node.health.age_ms + 1) / 1000 >= moment for node in nodes
        )

    # The first look may have begun before.
    for _ in range(2):
        moment = time.time()
        until(lambda: ended_since(moment))
    return {node.id: node.health for node in nodes}


def test_a_node_has_the_figures_of_ray_and_of_dcgm_and_the_faults_of_the_hardware(tmp_path, pages) -> None:
    pages["/ray"] = RAY_PAGE + 'ray_node_gpus_utilization{GpuIndex="0",GpuDeviceName="H100"} 7.0\n'
    pages["/dcgm"] = dcgm_page({0: WELL, 1: OWN_FAULT, 2: LOST})
    urls = {"n1": (f"{pages['url']}/ray", f"{pages['url']}/dcgm"), "away": (f"{pages['url']}/absent", "http://127.0.0.1:1/metrics")}
    found = read_again(Health(str(tmp_path), every_seconds=0), urls)
    assert found["n1"].HasField("cpu_percent") and found["n1"].memory_percent == 3.0
    assert not found["away"].HasField("cpu_percent") and not found["away"].gpus
    well, own, lost = found["n1"].gpus
    assert (well.utilization_percent, well.memory_percent, well.temperature_celsius, well.xid) == (80.0, 75.0, 61.0, 0)
    assert well.model == "NVIDIA H100 80GB HBM3" and not well.HasField("ecc_errors")
    assert (own.xid, list(own.faults)) == (31, [])
    assert (lost.ecc_errors, list(lost.faults)) == (2, FAULTS) and not lost.HasField("utilization_percent")


def test_a_fault_lasts_until_the_exporter_answers_without_it_also_over_a_restart_of_the_ray_worker(tmp_path, pages) -> None:
    urls = {"n1": (f"{pages['url']}/dcgm",)}
    pages["/dcgm"] = dcgm_page({3: LOST})
    read_again(Health(str(tmp_path), every_seconds=0), urls)
    del pages["/dcgm"]
    restarted = Health(str(tmp_path), every_seconds=0)
    assert list(read_again(restarted, urls)["n1"].gpus[0].faults) == FAULTS
    pages["/dcgm"] = dcgm_page({3: WELL})
    assert not read_again(restarted, urls)["n1"].gpus[0].faults


def test_the_exporter_of_a_node_is_asked_where_its_label_says_and_only_if_it_has_gpus(monkeypatch) -> None:
    node = {"NodeManagerAddress": "10.1.0.7", "MetricsExportPort": 8080, "Resources": {"GPU": 8.0}}
    assert pages_of(node, {}) == ("http://10.1.0.7:8080/metrics", "http://10.1.0.7:9400/metrics")
    monkeypatch.setenv("ECHELON_DCGM_PORT", "9500")
    assert pages_of(node, {"echelon/dcgm-host": "10.0.0.2"})[1] == "http://10.0.0.2:9500/metrics"
    assert pages_of({**node, "Resources": {"CPU": 4.0}, "NodeManagerAddress": "fd00::7"}, {}) == ("http://[fd00::7]:8080/metrics",)


def test_system_metrics_of_a_later_attempt_wait_for_its_first_step(tmp_path, pages) -> None:
    pages["/dcgm"] = dcgm_page({0: WELL, 1: LOST})
    read_again(Health(str(tmp_path), every_seconds=0), {"n1": (f"{pages['url']}/dcgm",)})
    every = {"ECHELON_SYSTEM_METRICS_SECONDS": "1"}
    later, first = SystemMetrics(str(tmp_path), ["n1"], 2, every), SystemMetrics(str(tmp_path), ["n1"], 1, every)
    none = SystemMetrics(str(tmp_path), ["n1"], 1, {"ECHELON_SYSTEM_METRICS_SECONDS": "0"})
    own = lambda: [os.getpid()]  # noqa: E731
    point = until(lambda: first.take(own)).metrics
    assert later.take(own) is None and none.take(own) is None and first.take(own) is None
    assert point.step == 0 and point.values["system/process_memory_bytes"] > 1e6
    nodes = {name: value for name, value in point.values.items() if "process" not in name}
    assert nodes == {
        "system/gpu_percent": 80.0, "system/gpu_memory_percent": 75.0, "system/gpu_temperature_celsius": 88.0,
        "system/gpu_xid": 79.0, "system/gpu_ecc_errors": 2.0, "system/gpu_faults": 3.0,
    }  # fmt: skip
    later.note(12)
    assert later.take(own).metrics.step == 12
    old = time.time() - FRESH_SECONDS - 1
    os.utime(tmp_path / "health.pb", (old, old))
    assert {name for name in until(lambda: later.take(own)).metrics.values} == {"system/process_cpu_percent", "system/process_memory_bytes"}


def test_an_attempt_records_the_load_of_its_machine_beside_its_own_metrics(server, client: Client) -> None:
    until(lambda: client.describe().nodes[0].HasField("health"))
    assert "local" in read_health(str(server.state_dir))[0]
    client.launch("wait=enough", environment={"ECHELON_SYSTEM_METRICS_SECONDS": "1"})
    points = []
    for event in client.attach():
        points += [event.metrics] if event.HasField("metrics") else []
        if len(points) == 2:
            (server.attempt_dir() / "enough").touch()
    assert {point.step for point in points} == {0}
    assert set(points[-1].values) == {
        "system/cpu_percent", "system/memory_percent", "system/process_cpu_percent", "system/process_memory_bytes",
    }  # fmt: skip
    assert 0 < points[-1].values["system/memory_percent"] < 100
