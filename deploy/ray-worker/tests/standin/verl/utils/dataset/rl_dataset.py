"""The rows of a parquet file."""

import pyarrow.parquet
from torch.utils.data import Dataset


class RLHFDataset(Dataset):
    def __init__(self, data_files, tokenizer=None, processor=None, config=None):
        self.rows = pyarrow.parquet.read_table(data_files).to_pylist()
        for row in self.rows:
            assert set(row) == {"data_source", "prompt", "ability", "extra_info"}, row
        print(f"dataset len: {len(self.rows)}")

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
