"""Training dumps of slime with two ranks and two optimizer steps each, through its own functions from samples to file.

    python scripts/golden/slime_train_data.py SOURCES DIRECTORY

published.py says what SOURCES holds. slime counts the denominators, packs micro-batches, splits ranks and builds the dump; only Ray's
object store is a stand-in. `right` is right. In `wrong`, a denominator counts the tokens of one sample and not of its
rollout. In `masked`, a function of the user (`--rollout-data-postprocess-path`) has masked tokens after slime counted them.
"""

import pathlib
import sys
import types

import torch
from published import load

SEED = 20261128
PATHS = {
    "dp_schedule": ("slime/utils/dp_schedule.py", ("_pack_step_into_mbs", "build_dp_schedule")),
    "balancing": ("slime/utils/seqlen_balancing.py", ("first_fit_pack", "_split_bin_by_tokens", "expand_bins_by_splitting")),
}


def functions():
    known = load("slime", PATHS["balancing"][0], *PATHS["balancing"][1])
    known = load("slime", PATHS["dp_schedule"][0], *PATHS["dp_schedule"][1], **known)
    known = load("slime", "slime/observability/rollout_data_utils.py", "_cpu_tensor", "tensorize_rollout_data_for_training",
                 **known, _ROLLOUT_DATA_TENSOR_DTYPES=dict(tokens=torch.long, loss_masks=torch.int, rollout_log_probs=torch.float32))  # fmt: skip
    store = types.SimpleNamespace(put=lambda value: value, get=lambda value: value)
    box = lambda inner: types.SimpleNamespace(inner=inner)  # noqa: E731
    timer = lambda: types.SimpleNamespace()  # noqa: E731
    status = types.SimpleNamespace(Status=types.SimpleNamespace(TRUNCATED="truncated"))
    own = load("slime", "slime/ray/rollout.py", "_convert_samples_to_train_data", "_split_train_data_by_dp",
               **known, ray=store, Box=box, Sample=status, get_source=lambda _: "")  # fmt: skip
    own = load("slime", "slime/utils/data.py", "process_rollout_data", **own, Timer=timer)
    fields = dict(_LAYOUT_FIELDS=("micro_batch_indices", "num_microbatches", "global_batch_sizes"), _WHOLE_BATCH_FIELDS=("raw_reward",))
    return load("slime", "slime/observability/train_data_utils.py", "_is_per_sample", "_build_dump_payload", **own, **fields)


def samples():
    """Ten rollouts, each third of which has two samples; some tokens are a tool's, and one sample is removed."""
    drawn = torch.Generator().manual_seed(SEED)
    count = lambda low, high: int(torch.randint(low, high, (), generator=drawn))  # noqa: E731
    found = []
    for rollout in range(10):
        for _ in range(2 if rollout % 3 == 0 else 1):
            length = count(3, 12)
            found.append(types.SimpleNamespace(
                tokens=[count(5, 90) for _ in range(length + count(2, 5))], response_length=length, index=len(found), rollout_id=rollout,
                status="completed", loss_mask=[int(at % 5 != 3) for at in range(length)], remove_sample=rollout == 4, metadata=None,
                rollout_log_probs=(-2 * torch.rand(length, generator=drawn)).tolist(), rollout_routed_experts=None, train_metadata=None,
                multimodal_train_inputs=None, teacher_log_probs=None, reward=count(0, 2),
            ))  # fmt: skip
    return found


def shards(space, change):
    """The data of each rank when it has computed log-probs and advantages."""
    args = types.SimpleNamespace(global_batch_size=5, use_dynamic_batch_size=True, max_tokens_per_gpu=24, micro_batch_size=None,
                                 balance_by_flops=False, balance_data=False, rollout_data_transport="object-store")  # fmt: skip
    parallel = dict(dp_size=2, cp_size=1, vpp_size=1, microbatch_group_size_per_vp_stage=1)
    manager = types.SimpleNamespace(
        args=args, train_parallel_config=parallel, custom_convert_samples_to_train_data_func=None,
        _post_process_rewards=lambda found: ([one.reward for one in found], [one.reward - 0.5 for one in found]),
    )  # fmt: skip
    data = space["_convert_samples_to_train_data"](manager, samples())
    references = space["_split_train_data_by_dp"](manager, data)
    drawn = torch.Generator().manual_seed(SEED + 1)
    for rank in range(2):
        own = space["process_rollout_data"](args, references, rank, 2)
        own["rollout_mask_sums"] = own["rollout_mask_sums"].to(torch.float32)
        own["log_probs"] = [value + 0.02 * torch.randn(value.shape, generator=drawn) for value in own["rollout_log_probs"]]
        own["advantages"] = [torch.full(value.shape, reward) for value, reward in zip(own["log_probs"], own["rewards"])]
        change(own)
        yield dict(rank=rank, data_parallel_rank=rank, rollout_data=own)


def right(_own):
    pass


def wrong(own):
    """The reducer gets each sample's own count."""
    own["rollout_mask_sums"] = torch.stack([mask.sum().float() for mask in own["loss_masks"]])


def masked(own):
    """Tokens far from the rollout's policy are masked, after slime has counted."""
    for at, mask in enumerate(own["loss_masks"]):
        own["loss_masks"][at] = mask * ((own["log_probs"][at] - own["rollout_log_probs"][at]).abs() < 0.03).int()


def main(to):
    space = functions()
    for name, change in (("right", right), ("wrong", wrong), ("masked", masked)):
        folder = pathlib.Path(to, name, "train_data")
        folder.mkdir(parents=True, exist_ok=True)
        payload = space["_build_dump_payload"](list(shards(space, change)), rollout_id=7, writer_rank=0)
        torch.save(payload, folder / "7_0.pt")


if __name__ == "__main__":
    main(sys.argv[2])
