"""Real data sets: tic-tac-toe, which needs no file, and the CP4IM collection."""

from maptree.datasets.cp4im import CP4IM_SETS, Cp4imSet, DatasetNotFoundError, load_cp4im
from maptree.datasets.tic_tac_toe import Dataset, load_tic_tac_toe

__all__ = [
    "CP4IM_SETS",
    "Cp4imSet",
    "Dataset",
    "DatasetNotFoundError",
    "load_cp4im",
    "load_tic_tac_toe",
]
