"""`python -m echelon_rayworker.engines.countdown from=N`"""

import sys

from echelon_rayworker.spool import Spool

from ..arguments import Key, parse_or_exit

start = parse_or_exit(sys.argv[1:], {"from": Key(3, minimum=1)})["from"]
spool = Spool.from_environment()
for step in range(1, start + 1):
    spool.stage(f"step {step} of {start}", step=step, steps=start)
    spool.metrics(step, {"countdown/number": start + 1 - step})
spool.close()
