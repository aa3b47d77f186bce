"""The prompted agent: every response comes from the record, or is paid for, recorded, and then used."""

from __future__ import annotations

import asyncio
from typing import Sequence

from .client import Answer, Client
from .errors import BudgetError, PromptError
from .responses import Call, Response, Responses, digest_of
from .settings import Settings


class Agent:
    """Answers prompts within the budget. `replayed`, `malformed`: responses from the record, and answers that were none."""

    def __init__(self, settings: Settings, client: Client, responses: Responses) -> None:
        self._model, self._budget = settings.model, settings.limits.budget
        self._client, self._responses = client, responses
        self._stopped: PromptError | None = None
        self._under_way = 0
        self._ended = asyncio.Condition()
        self.replayed = self.malformed = 0

    async def answer_all(self, asked: Sequence[tuple[Call, str]]) -> list[str]:
        """The texts of the responses to these prompts. Raises the first PromptError, after the other calls have ended:
        what is under way is paid, and must be recorded."""
        results = await asyncio.gather(*(self._answer(*one) for one in asked), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise self._stopped or result
        return results

    def counts(self) -> dict[str, float]:
        """Metrics of the calls."""
        return {
            "calls/replayed": self.replayed,
            "calls/malformed_answers": self.malformed,
            **{f"calls/tries_{name}": count for name, count in self._client.counts.items()},
        }

    async def _answer(self, call: Call, prompt: str) -> str:
        request = self._client.request_of([{"role": "user", "content": prompt}])
        digest = digest_of(request)
        known = self._responses.find(call, digest)
        if known is not None:
            self.replayed += 1
            return known.text
        async with self._client.turn():
            if self._stopped:
                raise self._stopped
            try:
                return (await self._buy(call, request, digest)).text
            except PromptError as error:
                self._stopped = self._stopped or error
                raise

    async def _buy(self, call: Call, request: dict, digest: str) -> Response:
        price = self._model.price
        worst = price.of(self._client.worst_prompt_tokens(request), self._model.max_tokens)
        await self._reserve(call, worst)
        try:
            answer = await self._client.ask(call, request, lambda: self._lose(call, worst))
        except PromptError:
            self._responses.release(call)
            raise
        else:
            self.malformed += answer.malformed
            response = self._response(answer)
            self._responses.add(call, digest, response)
            return response
        finally:
            self._under_way -= 1
            async with self._ended:
                self._ended.notify_all()

    async def _reserve(self, call: Call, worst: float) -> None:
        """Waits while calls that are under way may cost less than was reserved for them. Raises PromptError."""
        async with self._ended:
            while self._exceeds(worst) and self._under_way and not self._stopped:
                await self._ended.wait()
            if self._stopped:
                raise self._stopped
            self._check_budget(worst)
            self._under_way += 1
            self._responses.reserve(call, worst)

    def _lose(self, call: Call, worst: float) -> None:
        self._responses.lose(call, worst)
        self._check_budget(0)

    def _response(self, answer: Answer) -> Response:
        cost = self._model.price.of(answer.prompt_tokens, answer.completion_tokens)
        return Response(answer.text, answer.prompt_tokens, answer.completion_tokens, cost)

    def _check_budget(self, worst: float) -> None:
        if self._exceeds(worst):
            raise BudgetError(
                f"{self._responses.spent:.6g} of the budget of {self._budget:g} may be spent, and the next call may cost {worst:.6g}: "
                "raise /limits/budget in a new experiment, or play fewer games"
            )

    def _exceeds(self, worst: float) -> bool:
        return self._budget > 0 and self._responses.spent + worst > self._budget
