"""A training batch as SkyRL's own `TrainingInputBatch` saves it with `trainer.dump_data_batch`.

    python scripts/golden/skyrl_dump.py SOURCES FILE

published.py says what SOURCES holds. One column is bfloat16, which SkyRL saves in another form.
"""

import ast
import sys
import types

import torch
from published import source

from step_batches import Step

NAME = "skyrl.backends.skyrl_train.training_batch"


class Annotation:
    def __class_getitem__(cls, _):
        return cls


def batch_class():
    for name in ("skyrl", "skyrl.backends", "skyrl.backends.skyrl_train", "skyrl.backends.skyrl_train.utils"):
        sys.modules[name] = types.ModuleType(name)
    replay = types.ModuleType("skyrl.backends.skyrl_train.utils.replay_utils")
    replay.make_replay_padding_indices = None
    typing = types.ModuleType("jaxtyping")
    typing.Bool = typing.Float = typing.Integer = Annotation
    module = types.ModuleType(NAME)
    sys.modules.update({replay.__name__: replay, "jaxtyping": typing, NAME: module})
    exec(compile(ast.unparse(source("skyrl", f"{NAME.replace('.', '/')}.py")), NAME, "exec"), module.__dict__)
    return module.TrainingInputBatch


def main(path):
    step = Step(7000, rows=4, micro_batches=2)
    width = step.mask.shape[1]
    response = (torch.arange(width)[None, :] < step.lengths[:, None]).long()
    ids = torch.arange(step.count * (3 + width)).view(step.count, -1)
    batch = batch_class()(
        dict(
            sequences=ids, attention_mask=torch.cat([torch.ones(step.count, 3).long(), response], dim=1), loss_mask=step.mask,
            response_mask=response, action_log_probs=step.log_prob, rollout_logprobs=step.rollout,
            base_action_log_probs=step.reference.bfloat16(), advantages=step.advantage[:, None] * step.mask, values=None,
        )
    )
    batch.metadata = {"response_length": width, "global_step": 4}
    batch.save(path)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[2])
