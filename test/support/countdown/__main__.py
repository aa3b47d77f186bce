"""Counts down to 1 from the spec's `from`."""

from echelon_rayworker.spool import Spool

from ..spec import read_launch_or_exit

start = read_launch_or_exit().spec["from"]
spool = Spool.from_environment()
for step in range(1, start + 1):
    spool.stage(f"step {step} of {start}", step=step, steps=start)
    spool.metrics(step, {"countdown/number": start + 1 - step})
spool.close()
