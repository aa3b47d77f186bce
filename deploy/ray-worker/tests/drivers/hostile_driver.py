"""A training that puts into its directories, and reports, what it should not; each argument names one such act."""

import hashlib
import os
import socket
import sys
import time

from echelon_rayworker.framing import encode_frame
from echelon_rayworker.gen import rayworker_pb2 as pb

SPOOL = os.environ["ECHELON_SPOOL"]
ATTEMPT = os.path.dirname(SPOOL)


def write(name: str, *events: pb.AttemptEvent) -> None:
    with open(os.path.join(SPOOL, name), "ab", buffering=0) as file:
        for event in events:
            file.write(encode_frame(event.SerializeToString()))


def strange_files() -> None:
    """Whatever may have the name of a segment and is none, and names that are almost those of segments."""
    os.mkfifo(os.path.join(SPOOL, "fifo-000001.spool"))
    os.mkdir(os.path.join(SPOOL, "directory-000001.spool"))
    os.symlink("/dev/zero", os.path.join(SPOOL, "link-000001.spool"))
    os.symlink(os.path.join(SPOOL, "fifo-000001.spool"), os.path.join(SPOOL, "fifolink-000001.spool"))
    os.chdir(SPOOL)
    socket.socket(socket.AF_UNIX).bind("socket-000001.spool")
    for name in ("digit-²", "digit-00000²", "digit-٠٠٠٠٠١", "many-" + "9" * 200, "short-1", "-000001", "x"):
        open(name + ".spool", "wb").close()
    open(b"bytes-\xff\xfe-000001.spool", "wb").close()
    with open("huge-000001.spool", "wb") as file:
        file.truncate(1 << 40)  # a terabyte of zeros that takes no room
    os.symlink("/etc", os.path.join(SPOOL, "directories"))


def many_files() -> None:
    for number in range(21_000):
        open(os.path.join(SPOOL, f"many{number}-000001.spool"), "wb").close()


def strange_state() -> None:
    """Files beside those of the ray-worker."""
    attempts = os.path.dirname(ATTEMPT)
    for name in ("²", "٢", "01", "99999999999", "name", "-1"):
        os.mkdir(os.path.join(attempts, name))
    os.mkfifo(os.path.join(attempts, "7"))
    os.mkdir(os.path.join(attempts, "8"))
    os.mkfifo(os.path.join(attempts, "8", "launch.bin"))
    experiments = os.path.dirname(os.path.dirname(attempts))
    open(os.path.join(experiments, "stray"), "wb").close()
    open(os.path.join(experiments, "Stray ²"), "wb").close()
    os.makedirs(os.path.join(experiments, "other", "attempts", "²"))
    os.mkfifo(os.path.join(experiments, "other", "fence.json"))
    os.mkdir(os.path.join(ATTEMPT, "events-²²²²²²²²²²²²²²²²²²²².log"))


def own_files() -> None:
    """In place of the attempt's own files."""
    for name in ("launch.bin", "events-progress", "supervisor.json"):
        os.unlink(os.path.join(ATTEMPT, name))
        os.mkfifo(os.path.join(ATTEMPT, name))
    os.mkdir(os.path.join(ATTEMPT, "stop.json"))


def long_texts() -> None:
    write(
        "texts-000001.spool",
        pb.AttemptEvent(stage=pb.Stage(name="s" * 3_900_000)),
        pb.AttemptEvent(stage=pb.Stage(name="t" * 900_000)),
        pb.AttemptEvent(checkpoint=pb.Checkpoint(path="c" * 3_900_000)),
        pb.AttemptEvent(checkpoint=pb.Checkpoint(path="d" * 900_000)),
        pb.AttemptEvent(gap=pb.Gap(reason="g" * 900_000)),
        pb.AttemptEvent(log=pb.LogLines(lines=["l" * 900_000, *([""] * 30_000)])),
    )


def many_metrics() -> None:
    no_names = {"": 1.0, "a\nb": 1.0, "n" * 201: 1.0, "\U0001f52c" * 200: 1.0}
    write("metrics-000001.spool", pb.AttemptEvent(metrics=pb.Metrics(step=0, values=no_names)))
    values = {f"m{number}": float(number) for number in range(150_000)}
    write("metrics-000001.spool", pb.AttemptEvent(metrics=pb.Metrics(step=1, values=values)))
    for step in range(2, 7):
        some = {f"m{number}": 1.0 for number in range(step * 10_000, step * 10_000 + 5_000)}
        write("metrics-000001.spool", pb.AttemptEvent(metrics=pb.Metrics(step=step, values=some)))


def endless_batch() -> None:
    data, digest = os.urandom(900_000), hashlib.sha256(b"").digest()
    for index in range(400):
        chunk = pb.BatchChunk(step=9, batch=1, index=index, count=2**32 - 1, data=data, digest=digest, rows=77)
        write("batch-000001.spool", pb.AttemptEvent(batch=chunk))


def main() -> None:
    for argument in sys.argv[1:]:
        if argument.startswith("wait="):
            while not os.path.exists(argument[5:]):
                time.sleep(0.01)
        else:
            globals()[argument]()


if __name__ == "__main__":
    main()
