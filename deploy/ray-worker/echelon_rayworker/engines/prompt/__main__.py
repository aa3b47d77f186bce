"""`python -m echelon_rayworker.engines.prompt argument…` (see engines/spec.py): one evaluation of a prompted agent."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from echelon_rayworker.launch import forget_hidden
from echelon_rayworker.spool import Spool

from ..spec import SpecError, read_launch
from .agent import Agent
from .client import Client
from .environments import Environment, LocalEnvironment
from .errors import PromptError
from .play import Evaluation
from .responses import Responses
from .settings import Settings, settings_of


async def evaluate(settings: Settings, spool: Spool) -> None:
    """Plays all rounds. Raises PromptError; CancelledError on SIGTERM."""
    task = asyncio.current_task()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    spool.stage("building environments")
    responses = Responses(settings.experiment_dir)
    if known := len(responses.all()):
        print(f"{known} responses are recorded: they are used again and not paid again", flush=True)
    client = Client(settings.model, settings.limits, os.environ)
    try:
        agent = Agent(settings, client, responses)
        await Evaluation(settings, environment_of(settings), agent, responses, spool).run()
    finally:
        await client.close()
        responses.close()
        if settings.checkout:
            forget_hidden(settings.checkout.attempt_dir)


def environment_of(settings: Settings) -> Environment:
    """The environment that the settings name. Those of a checkout need Ray."""
    if settings.checkout is None:
        return LocalEnvironment(settings)
    from . import checkout  # with it comes the verl-agent engine's connection to Ray

    checkout.connect(settings.checkout, settings.model.api_key)
    return checkout.CheckoutEnvironment(settings.checkout)


def main() -> None:
    try:
        settings = settings_of(read_launch(sys.argv[1:]), os.environ)
    except SpecError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    spool = Spool.from_environment()
    try:
        asyncio.run(evaluate(settings, spool))
    except asyncio.CancelledError:
        sys.exit(128 + signal.SIGTERM)
    except PromptError as error:
        # The last line is the reason that people see.
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
    except ModuleNotFoundError as error:
        print(f"ModuleNotFoundError: {error}: install it for the Python of the ray-worker", file=sys.stderr, flush=True)
        sys.exit(1)
    finally:
        spool.close()


if __name__ == "__main__":
    main()
