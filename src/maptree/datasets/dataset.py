"""What a loader returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Dataset:
    """A table with its labels and the words for both."""

    data: NDArray[np.uint8]
    target: NDArray[np.int64]
    feature_names: list[str]
    target_names: list[str]
