"""The pytest plugin: a fixture, every batch of a trainer's test run, and a report of all batches.

    def test_my_advantages(advantage_check):
        advantage_check(advantages=..., rewards=..., groups=..., estimator="trl/grpo")

`pytest --echelon-follow trl` verifies every batch that a GRPOTrainer computes in any test, and `--echelon-follow verl` every call of an
advantage estimator of verl. A test in which a row is wrong fails. `--echelon-report FILE` writes the reports of all batches.

pytest loads this module in every run, so it imports the verifier only when it is used.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generator

import pytest

if TYPE_CHECKING:
    from .training_verifier import TrainingVerifier
    from .report import ArrayReport

_FOLLOWED = ("trl", "verl")


class Session:
    """What was verified in this process of the test run."""

    def __init__(self) -> None:
        self.test = ""
        self.batches: list[dict[str, Any]] = []
        self.gaps: list[dict[str, Any]] = []
        # Verifiers of the whole run, and of the test that runs.
        self.verifiers: list[TrainingVerifier] = []
        self.own_verifiers: list[TrainingVerifier] = []
        self._wrong: ArrayReport | None = None
        # Batches of the test that runs, for which its check raised.
        self._refused: list[dict[str, Any]] = []

    def begin(self, test: str) -> None:
        """Batches that are recorded from now on are of this test."""
        self.test, self._refused = test, []

    def expect(self) -> None:
        """The test has passed although a check raised: it expects that, as with `pytest.raises`."""
        for batch in self._refused:
            batch["expected"] = True

    def add(self, report: ArrayReport) -> dict[str, Any]:
        """Adds a batch of the test that runs."""
        explained = {"explanation": report.explanation, "likelyCause": report.likely_cause} if report.wrong else {}
        self.batches.append({**report.json, "test": self.test, "expected": False, **explained})
        return self.batches[-1]

    def refuse(self, report: ArrayReport) -> None:
        """Adds a batch for which the check of the test that runs raises."""
        self._refused.append(self.add(report))

    def followed(self, report: ArrayReport) -> None:
        """Adds a batch that a followed trainer computed in the test that runs."""
        self.add(report)
        if report.wrong and self._wrong is None:
            self._wrong = report

    def check(self) -> None:
        """Ends a test. It fails if a followed trainer computed a wrong row, or if none of its own batches could be verified."""
        __tracebackhide__ = True
        from .checks import WrongAdvantages

        wrong, self._wrong = self._wrong, None
        own, self.own_verifiers = self.own_verifiers, []
        for verifier in (*self.verifiers, *own):
            gaps, verifier.gaps = verifier.gaps, []
            self.gaps += [{"test": self.test, "step": one.step, "rows": one.rows, "reason": one.reason} for one in gaps]
            if wrong is None and gaps and verifier in own and verifier.batches == 0:
                raise AssertionError(f"no batch could be verified: {gaps[0].reason}")
        if wrong is not None:
            raise WrongAdvantages(wrong)


class AdvantageCheck:
    """The fixture `advantage_check` of one test."""

    def __init__(self, session: Session) -> None:
        from .training_verifier import TrainingVerifier

        self._session = session
        self.verifier = TrainingVerifier(session.followed)
        """For a training loop: `verifier.batch(step, ...)` takes the columns of echelon_capture.batch. The test fails at its end
        if a row is wrong, or if no batch could be verified."""
        session.own_verifiers.append(self.verifier)

    def __call__(self, **arguments: Any) -> ArrayReport:
        """See `echelon_verify.assert_advantages`."""
        __tracebackhide__ = True
        from .arrays import verify
        from .checks import WrongAdvantages

        report = verify(**arguments)
        if not report.ok:
            self._session.refuse(report)
            raise WrongAdvantages(report)
        self._session.add(report)
        return report

    def follow(self, trainer: Any) -> None:
        """Verifies every batch that a GRPOTrainer of TRL computes from now on, as `verifier` does. ImportError without
        echelon-capture."""
        from echelon_capture.trl import follow

        follow(trainer, self.verifier)


_SESSION = pytest.StashKey[Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("echelon", "verification of advantages")
    group.addoption("--echelon-report", metavar="FILE", help="write the reports of all verified batches to FILE, as JSON")
    group.addoption(
        "--echelon-follow", choices=_FOLLOWED, help="verify every batch of this trainer; a test with a wrong row fails"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Follows the trainer before the tests import it."""
    session = config.stash[_SESSION] = Session()
    followed = config.getoption("--echelon-follow")
    if followed is None:
        return
    from . import followed as trainers
    from .training_verifier import TrainingVerifier

    verifier = TrainingVerifier(session.followed)
    session.verifiers.append(verifier)
    try:
        getattr(trainers, f"follow_{followed}")(verifier)
    except Exception as error:
        # Whatever goes wrong while the trainer is imported.
        raise pytest.UsageError(f"--echelon-follow {followed}: {type(error).__name__}: {error}") from error


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Batches that are recorded from now on are of this test."""
    item.config.stash[_SESSION].begin(item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """A test fails if a followed trainer computed a wrong row in it, unless it fails anyway."""
    # The failure text says enough: no line of the plugin belongs to it.
    __tracebackhide__ = True
    outcome = yield
    session = item.config.stash[_SESSION]
    try:
        session.check()
    except AssertionError as error:
        if outcome.excinfo is None:
            outcome.force_exception(error)
    else:
        if outcome.excinfo is None:
            session.expect()


@pytest.fixture
def advantage_check(request: pytest.FixtureRequest) -> AdvantageCheck:
    """Verifies advantages: call it with the arguments of `echelon_verify.verify`, or let it follow a trainer."""
    return AdvantageCheck(request.config.stash[_SESSION])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Collects the batches of a process of pytest-xdist."""
    session = node.config.stash[_SESSION]
    sent = getattr(node, "workeroutput", {}).get("echelon")
    if sent is not None:
        found = json.loads(sent)
        session.batches += found["batches"]
        session.gaps += found["gaps"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the report, or hands it to the main process of pytest-xdist."""
    config = session.config
    own = config.stash[_SESSION]
    text = json.dumps({"batches": own.batches, "gaps": own.gaps})
    # pytest-xdist sends it to the main process.
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["echelon"] = text
        return
    path = config.getoption("--echelon-report")
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line on the batches."""
    own = config.stash[_SESSION]
    if not own.batches and not own.gaps:
        return
    rows = sum(batch["rows"] for batch in own.batches)
    expected = [batch for batch in own.batches if batch["expected"]]
    wrong = sum(batch["wrong"] for batch in own.batches if not batch["expected"])
    wanted = f"; {len(expected)} batches not ok, as their tests expect" if expected else ""
    terminalreporter.write_sep("-", "advantages")
    terminalreporter.write_line(f"{len(own.batches)} batches, {rows} rows, {wrong} wrong{wanted}; {len(own.gaps)} batches not verified")
    for gap in own.gaps[:3]:
        terminalreporter.write_line(f"not verified: {gap['test']}: {gap['reason']}")
