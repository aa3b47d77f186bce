"""Ranks of one training as forked processes that are connected with gloo, and the steps that their files give together."""

from __future__ import annotations

import multiprocessing
import os
import socket
import traceback
from pathlib import Path

import echelon_capture


def run_ranks(size, cases, folder):
    """Runs every case of `cases` (name → function) on `size` ranks, which capture to `folder/NAME`. A fork shares what is imported."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    problems = context.Queue()
    ranks = [context.Process(target=_rank, args=(rank, size, port, cases, folder, problems)) for rank in range(size)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join(240)
    assert [one.exitcode for one in ranks] == [0] * size, problems.get() if not problems.empty() else "a rank does not end"


def _rank(rank, size, port, cases, folder, problems):
    import torch

    torch.set_num_threads(1)
    os.environ |= {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }  # fmt: skip
    try:
        torch.distributed.init_process_group("gloo")
        for name, case in cases.items():
            os.environ["ECHELON_CAPTURE_DIR"] = str(Path(folder) / name)
            case(rank, size)
            assert echelon_capture.close()
            echelon_capture._forget()
            torch.distributed.barrier()
        torch.distributed.destroy_process_group()
    except BaseException:
        problems.put(traceback.format_exc())
        problems.close()
        problems.join_thread()
        os._exit(1)
    os._exit(0)
