"""The decision tree with the highest posterior probability, with a proof.

>>> from maptree import MAPTreeClassifier
>>> model = MAPTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
>>> model.predict([[1, 0]])
array([1])
>>> model.certificate_.optimal
True
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maptree.certificate import Certificate
    from maptree.diagnostics import Diagnostics
    from maptree.encoding.encoder import BinaryEncoder, IdentifierWarning
    from maptree.encoding.schema import Column
    from maptree.estimator import InterruptedWarning, TimeLimitWarning
    from maptree.map_classifier import MAPTreeClassifier
    from maptree.mcmc_classifier import MCMCTreeClassifier
    from maptree.model_file.loading import load_model
    from maptree.model_file.saving import save_model
    from maptree.plot import plot_search, plot_tree
    from maptree.progress import Progress, SamplerProgress
    from maptree.report import write_report
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
    "plot_search",
    "plot_tree",
    "save_model",
    "scan_parquet",
    "write_report",
]
__version__ = version("maptree")

# Where the names are. They are imported when they are asked for: scikit-learn and scipy take more
# than a second, and `maptree --help` needs neither.
_HOMES = {
    "BinaryEncoder": "maptree.encoding.encoder",
    "Certificate": "maptree.certificate",
    "Column": "maptree.encoding.schema",
    "Diagnostics": "maptree.diagnostics",
    "HeldOutScores": "maptree.training",
    "IdentifierWarning": "maptree.encoding.encoder",
    "InterruptedWarning": "maptree.estimator",
    "MAPTreeClassifier": "maptree.map_classifier",
    "MCMCTreeClassifier": "maptree.mcmc_classifier",
    "ParquetTable": "maptree.tables.parquet",
    "PosteriorSummary": "maptree.summary",
    "Progress": "maptree.progress",
    "SMCTreeClassifier": "maptree.smc_classifier",
    "SamplerProgress": "maptree.progress",
    "TimeLimitWarning": "maptree.estimator",
    "TrainingSummary": "maptree.training",
    "Tree": "maptree.tree",
    "load_model": "maptree.model_file.loading",
    "log_posterior": "maptree.scorer",
    "plot_search": "maptree.plot",
    "plot_tree": "maptree.plot",
    "save_model": "maptree.model_file.saving",
    "scan_parquet": "maptree.tables.parquet",
    "write_report": "maptree.report",
}

if not TYPE_CHECKING:  # so that type checkers know the names, and no others

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
