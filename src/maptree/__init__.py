"""The decision tree with the highest posterior probability, with a proof.

>>> from maptree import MAPTreeClassifier
>>> model = MAPTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
>>> model.predict([[1, 0]])
array([1])
>>> model.certificate_.optimal
True
"""

from importlib.metadata import version

from maptree.certificate import Certificate
from maptree.diagnostics import Diagnostics
from maptree.encoding.encoder import BinaryEncoder, IdentifierWarning
from maptree.encoding.schema import Column
from maptree.estimator import InterruptedWarning, TimeLimitWarning
from maptree.map_classifier import MAPTreeClassifier
from maptree.mcmc_classifier import MCMCTreeClassifier
from maptree.model_file.loading import load_model
from maptree.model_file.saving import save_model
from maptree.progress import Progress, SamplerProgress
from maptree.scorer import log_posterior
from maptree.smc_classifier import SMCTreeClassifier
from maptree.summary import PosteriorSummary
from maptree.tables.parquet import ParquetTable, scan_parquet
from maptree.training import HeldOutScores, TrainingSummary
from maptree.tree import Tree

__all__ = [
    "BinaryEncoder",
    "Certificate",
    "Column",
    "Diagnostics",
    "HeldOutScores",
    "IdentifierWarning",
    "InterruptedWarning",
    "MAPTreeClassifier",
    "MCMCTreeClassifier",
    "ParquetTable",
    "PosteriorSummary",
    "Progress",
    "SMCTreeClassifier",
    "SamplerProgress",
    "TimeLimitWarning",
    "TrainingSummary",
    "Tree",
    "__version__",
    "load_model",
    "log_posterior",
    "save_model",
    "scan_parquet",
]
__version__ = version("maptree")
