"""A batch: tensors and object arrays, one entry a row."""

from dataclasses import dataclass, field


@dataclass
class DataProto:
    batch: dict
    non_tensor_batch: dict
    meta_info: dict = field(default_factory=dict)

    def __len__(self):
        return len(self.non_tensor_batch["uid"])
