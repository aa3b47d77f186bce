"""A driver for tests: carries out its arguments one after another."""

import os
import signal
import subprocess
import sys
import time

from echelon_rayworker.spool import Spool


def main() -> None:
    spool = Spool.from_environment()
    for argument in sys.argv[1:]:
        word, _, value = argument.partition("=")
        if word == "print":
            print(value)
        elif word == "error":
            print(value, file=sys.stderr)
        elif word == "raw":
            os.write(1, bytes.fromhex(value))
        elif word == "lines":
            for number in range(int(value)):
                print(f"line {number}")
        elif word == "environment":
            print(f"{value}={os.environ.get(value, '')}")
        elif word == "signals":
            ignored = [number.name for number in signal.Signals if signal.getsignal(number) == signal.SIG_IGN]
            print("ignored", *sorted(ignored))
        elif word == "stage":
            spool.stage(value)
        elif word == "metrics":
            for step in range(1, int(value) + 1):
                spool.metrics(step, {"x": step / 3})
        elif word == "metrics-named":
            spool.metrics(1, {f"loss of {os.environ[value]}": 1.0})
        elif word == "batches":
            count, size = map(int, value.split("x"))
            for step in range(1, count + 1):
                spool.batch(step, os.urandom(size), rows=step)
        elif word == "checkpoint":
            spool.checkpoint(1, value)
        elif word == "save":
            # A checkpoint of one file, of that step and size.
            step, size = map(int, value.split("x"))
            os.makedirs("../../checkpoints", exist_ok=True)
            with open(f"../../checkpoints/step-{step}", "wb") as file:
                file.write(os.urandom(size))
            spool.checkpoint(step, f"checkpoints/step-{step}")
        elif word == "touch":
            open(value, "w").close()
        elif word == "wait":
            while not os.path.exists(value):
                time.sleep(0.01)
        elif word == "ticks":
            # Numbered reports until the file exists: what a training looks like from outside.
            step = 0
            while not os.path.exists(value):
                step += 1
                spool.metrics(step, {"x": float(step)})
                time.sleep(0.01)
        elif word == "exit":
            sys.exit(int(value))
        elif word == "kill":
            os.kill(os.getpid(), int(value))
        elif word == "raise":
            raise RuntimeError(value)
        elif word == "ignore-sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print("ignoring", flush=True)
        elif word == "child":
            # One child in the group, one that left it: both would outlive an ordinary driver.
            subprocess.Popen(["sleep", "1000"])
            subprocess.Popen(["sh", "-c", "setsid sleep 1000 &"])
        elif word == "fill":
            # Every free byte of the file system.
            with open(value, "wb", buffering=0) as file:
                for size in (65536, 1):
                    try:
                        while file.write(bytes(size)) == size:
                            pass
                    except OSError:
                        pass
        elif word == "remove":
            os.unlink(value)
        elif word == "ray":
            import ray

            ray.init(log_to_driver=False)
            print("ray says", ray.get(ray.remote(lambda: 6 * 7).remote()))
            ray.shutdown()
        elif word == "pid":
            print(f"pid {os.getpid()}", flush=True)
    spool.close()


if __name__ == "__main__":
    main()
