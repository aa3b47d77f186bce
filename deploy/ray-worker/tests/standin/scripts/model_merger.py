"""The stand-in of verl-agent's export: takes the same arguments, and joins the shards in the order of their ranks."""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import verl  # as the real one does: the checkout is on the search path


def main() -> None:
    parser = argparse.ArgumentParser()
    merge = parser.add_subparsers(dest="operation", required=True).add_parser("merge")
    merge.add_argument("--backend", required=True, choices=["fsdp", "megatron"])
    merge.add_argument("--local_dir", required=True)
    merge.add_argument("--target_dir", default="tmp")
    args = parser.parse_args()
    assert Path(verl.__file__).parents[1] == Path(__file__).parents[1]
    os.makedirs(args.target_dir, exist_ok=True)
    source, target = Path(args.local_dir), Path(args.target_dir)
    shutil.copy(source / "config.json", target)
    shards = sorted(source.glob("model_*.pt"), key=lambda path: int(re.findall(r"\d+", path.name)[-1]))
    data = b"".join(path.read_bytes() for path in shards)
    if b"torn" in data:
        sys.exit("PytorchStreamReader failed reading zip archive")
    (target / "model.safetensors").write_bytes(data)
    print(f"Saving model to {target} in process {os.getpid()}", flush=True)
    if b"slow" in data:
        import time

        time.sleep(600)


if __name__ == "__main__":
    main()
