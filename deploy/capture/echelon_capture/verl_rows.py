"""What verl's driver knows of the rows of a step, and its actors do not: a digest of each row and its mask when its old log-probs were
computed, and the limits of the rollout weights. All travel with the batch.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

# A tensor of one number a row: the digest above, the number of tokens below.
DIGEST = "echelon_digest"
# The mask of each row before rejection: the tokens that the policy generated.
SAMPLED = "echelon_sampled"
# A text beside the tensors.
CORRECTION = "echelon_rollout_correction"
_LENGTH_BITS = 23
# The number has 63 bits.
_DIGEST_BITS = 40
_EXPONENT_CLAMP = 20.0


def mark(batch: Any, computed: Any) -> None:
    """Gives the old log-probs `computed` of a batch a digest for each row, and a copy of its mask, which stay with them."""
    ids, old = batch.batch["responses"], computed.batch["old_log_probs"]
    lengths = batch.batch["attention_mask"][:, -ids.shape[1] :].sum(-1).tolist()
    numbers = [_number(digest, length) for digest, length in zip(digests(ids, old, lengths), lengths)]
    computed.batch[DIGEST] = ids.new_tensor(numbers, dtype=_int64())
    if "response_mask" in batch.batch.keys():
        computed.batch[SAMPLED] = batch.batch["response_mask"].bool().clone()


def digests(ids: Any, old: Any, lengths: list[int]) -> list[str]:
    """A digest of the first `lengths` token ids and old log-probs of each row."""
    columns = ids.detach().cpu().numpy().astype("<i4"), old.detach().float().cpu().numpy().astype("<f4")
    return [_digest(*(column[row, :length].tobytes() for column in columns)) for row, length in enumerate(lengths)]


def marked(numbers: Any) -> tuple[list[str], list[int]]:
    """Digests and lengths of a tensor that `mark` made."""
    found = [divmod(int(number), 2**_LENGTH_BITS) for number in numbers.cpu().tolist()]
    return [f"{digest:010x}" for digest, _ in found], [length for _, length in found]


def _digest(*parts: bytes) -> str:
    whole = hashlib.blake2b(digest_size=_DIGEST_BITS // 8)
    for part in parts:
        whole.update(part)
    return whole.hexdigest()


def _number(digest: str, length: int) -> int:
    if length >= 2**_LENGTH_BITS:
        raise ValueError(f"a row of {length} tokens")
    return int(digest, 16) * 2**_LENGTH_BITS + length


def _int64() -> Any:
    import torch

    return torch.int64


def correction_of(config: Any) -> str:
    """The limits of the rollout weights by the trainer's configuration, in the format's form; empty if it has no weights."""
    stated = config.algorithm.get("rollout_correction") or {}
    level, threshold = stated.get("rollout_is"), stated.get("rollout_is_threshold", 2.0)
    if level not in ("token", "sequence") or threshold is None:
        return ""
    # Both change weights by rows and tokens that are not in the step.
    is_of_others = stated.get("rollout_is_batch_normalize") or (level == "sequence" and stated.get("rollout_rs"))
    limits = {"action": "unknown"} if is_of_others else _limits(str(threshold))
    statistic = "sum" if level == "sequence" else "ratio"
    return json.dumps({"level": level, "statistic": statistic, "exponentClamp": _EXPONENT_CLAMP, **limits})


def _limits(threshold: str) -> dict[str, Any]:
    """verl's `rollout_is_threshold`: a cap, or "LOWER_UPPER", outside of which a weight is 0."""
    low, _, high = threshold.rpartition("_")
    if low:
        return {"action": "mask", "low": float(low), "high": float(high)}
    return {"action": "truncate", "high": float(high)}


def correction_in(data: Any) -> dict[str, Any]:
    """What `correction_of` gave the driver's batch; limits that are not known if the batch does not have it."""
    text = data[CORRECTION] if data is not None and CORRECTION in data.keys() else ""
    text = getattr(text, "data", text)
    return json.loads(text) if text else {"level": "token", "action": "unknown"}
