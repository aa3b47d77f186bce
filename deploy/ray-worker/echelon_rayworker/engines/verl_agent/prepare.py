"""Everything before the trainer starts: what would fail late or in silence is refused here, in a sentence."""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import checkpoints, datafiles, datasets, panel, staging
from .checkpoints import CheckpointError, Start
from .settings import Settings


class NotStartable(ValueError):
    """The run cannot start as it stands; the message says the remedy."""


@dataclass(frozen=True)
class Prepared:
    """`finished`: the training has its last step's checkpoint already, and there is nothing to do."""

    start: Start
    finished: bool


def prepare(settings: Settings) -> Prepared:
    """Checks the checkout, the start and the directories; writes the data files and stages the capture hook. Changes the
    settings' overrides. Raises NotStartable."""
    _check_checkout(settings)
    try:
        start = checkpoints.find_start(settings.overrides, settings.checkpoint_dir, settings.gpus)
    except CheckpointError as error:
        raise NotStartable(str(error)) from None
    if settings.evaluates:
        _check_evaluation(settings, start)
    elif settings.steps and start.step >= settings.steps:
        return Prepared(start, finished=True)
    else:
        _check_writable(settings.checkpoint_dir)
    checkpoints.use_start(settings.overrides, start)
    try:
        datafiles.provide(settings.overrides, settings.attempt_dir, settings.train_rows, settings.val_rows)
        _load_hook(settings)
        _write_panel(settings)
    except (datafiles.DataError, panel.PanelError, OSError) as error:
        raise NotStartable(str(error)) from None
    if settings.overrides.text("hydra.run.dir") is None:
        settings.overrides.set("hydra.run.dir", os.path.join(settings.attempt_dir, "hydra"))
    return Prepared(start, finished=False)


def _check_checkout(settings: Settings) -> None:
    program = os.path.join(settings.home, *settings.program.split("."))
    if not os.path.isfile(f"{program}.py"):
        raise NotStartable(
            f"{settings.home} holds no {settings.program}: put a verl-agent checkout with recipe/hgpo there, or set "
            "home to the path of one"
        )


def _check_evaluation(settings: Settings, start: Start) -> None:
    overrides = settings.overrides
    if not (overrides.flag("trainer.val_only", False) and overrides.flag("trainer.val_before_train", True)):
        raise NotStartable("an evaluation needs trainer.val_only=True and trainer.val_before_train=True")
    if not start.path and not settings.base_model:
        raise NotStartable(
            f"{settings.checkpoint_dir} holds no checkpoint: the trainer would silently evaluate the base model. Name "
            "the checkpoint directory of a training of this cluster in evaluation.checkpoint.directory, or set evaluation.baseModel"
        )


def _check_writable(directory: str) -> None:
    try:
        os.makedirs(directory, exist_ok=True)
        probe = os.path.join(directory, f".echelon-{os.getpid()}")
        with open(probe, "wb") as file:
            file.write(b"\0")
        os.unlink(probe)
    except OSError as error:
        raise NotStartable(f"checkpoints cannot be written to {directory}: {error.strerror}") from None


def _load_hook(settings: Settings) -> None:
    overrides = settings.overrides
    given = overrides.text("data.custom_cls.path")
    if given and "echelon_rayworker" not in given:
        raise NotStartable(
            f"data.custom_cls.path={given} cannot be used: the capture hook is loaded by this key. Omit it"
        )
    overrides.set("data.custom_cls.path", staging.stage_hook(settings.attempt_dir))
    overrides.set("data.custom_cls.name", "CaptureDataset")


def _write_panel(settings: Settings) -> None:
    """For `panel_hook`, which reads it in the trainer's process."""
    if (made := datasets.panel_of(settings)) is not None:
        made.write(settings.attempt_dir)
