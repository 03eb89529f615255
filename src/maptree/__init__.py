"""Finds the decision tree with the highest posterior probability, and proves that it is.

>>> from maptree import MAPTreeClassifier
>>> model = MAPTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
>>> model.predict([[1, 0]])
array([1])
>>> model.certificate_.optimal
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from maptree.encoding.encoder import AmbiguousTextWarning, BinaryEncoder, IdentifierWarning
    from maptree.engine.diagnostics import Diagnostics
    from maptree.engine.progress import AlternativesProgress, Progress, SamplerProgress
    from maptree.estimators.base import InterruptedWarning, TargetWarning, TimeLimitWarning
    from maptree.estimators.comparing import compare
    from maptree.estimators.map_classifier import MAPTreeClassifier
    from maptree.estimators.map_regressor import MAPTreeRegressor
    from maptree.estimators.mcmc_classifier import MCMCTreeClassifier
    from maptree.estimators.sampled import MixingWarning
    from maptree.estimators.saved import load_model, save_model
    from maptree.estimators.size_path import choose_size, size_path
    from maptree.estimators.smc_classifier import SMCTreeClassifier
    from maptree.pictures.report.write import write_report
    from maptree.pictures.search_plot import plot_search
    from maptree.pictures.size_plot import plot_sizes
    from maptree.pictures.tree_plot import plot_tree
    from maptree.schema.columns import Column
    from maptree.tables.parquet import ParquetTable, scan_parquet
    from maptree.trees.certificate import Certificate
    from maptree.trees.fitted import FittedTree
    from maptree.trees.log_posterior import log_posterior
    from maptree.trees.predictive import NegativeBinomial, StudentT
    from maptree.trees.training import BaselineScores, HeldOutScores, TrainingSummary
    from maptree.trees.tree import Tree
    from maptree.words.alternatives import Alternative, Alternatives
    from maptree.words.comparison import Comparison
    from maptree.words.decisions import Decisions
    from maptree.words.posterior_summary import PosteriorSummary
    from maptree.words.size_path import SizeEntry, SizePath

__all__ = [
    "Alternative",
    "Alternatives",
    "AlternativesProgress",
    "AmbiguousTextWarning",
    "BaselineScores",
    "BinaryEncoder",
    "Certificate",
    "Column",
    "Comparison",
    "Decisions",
    "Diagnostics",
    "FittedTree",
    "HeldOutScores",
    "IdentifierWarning",
    "InterruptedWarning",
    "MAPTreeClassifier",
    "MAPTreeRegressor",
    "MCMCTreeClassifier",
    "MixingWarning",
    "NegativeBinomial",
    "ParquetTable",
    "PosteriorSummary",
    "Progress",
    "SMCTreeClassifier",
    "SamplerProgress",
    "SizeEntry",
    "SizePath",
    "StudentT",
    "TargetWarning",
    "TimeLimitWarning",
    "TrainingSummary",
    "Tree",
    "__version__",
    "choose_size",
    "compare",
    "load_model",
    "log_posterior",
    "plot_search",
    "plot_sizes",
    "plot_tree",
    "save_model",
    "scan_parquet",
    "size_path",
    "write_report",
]

# The module of each name. Names are imported on first use: scikit-learn and scipy take more than a
# second, and `maptree --help` needs neither.
_HOMES = {
    "Alternative": "maptree.words.alternatives",
    "Alternatives": "maptree.words.alternatives",
    "AlternativesProgress": "maptree.engine.progress",
    "AmbiguousTextWarning": "maptree.encoding.encoder",
    "BaselineScores": "maptree.trees.training",
    "BinaryEncoder": "maptree.encoding.encoder",
    "Certificate": "maptree.trees.certificate",
    "Column": "maptree.schema.columns",
    "Comparison": "maptree.words.comparison",
    "Decisions": "maptree.words.decisions",
    "Diagnostics": "maptree.engine.diagnostics",
    "FittedTree": "maptree.trees.fitted",
    "HeldOutScores": "maptree.trees.training",
    "IdentifierWarning": "maptree.encoding.encoder",
    "InterruptedWarning": "maptree.estimators.base",
    "MAPTreeClassifier": "maptree.estimators.map_classifier",
    "MAPTreeRegressor": "maptree.estimators.map_regressor",
    "MCMCTreeClassifier": "maptree.estimators.mcmc_classifier",
    "MixingWarning": "maptree.estimators.sampled",
    "NegativeBinomial": "maptree.trees.predictive",
    "ParquetTable": "maptree.tables.parquet",
    "PosteriorSummary": "maptree.words.posterior_summary",
    "Progress": "maptree.engine.progress",
    "SMCTreeClassifier": "maptree.estimators.smc_classifier",
    "SamplerProgress": "maptree.engine.progress",
    "SizeEntry": "maptree.words.size_path",
    "SizePath": "maptree.words.size_path",
    "StudentT": "maptree.trees.predictive",
    "TargetWarning": "maptree.estimators.base",
    "TimeLimitWarning": "maptree.estimators.base",
    "TrainingSummary": "maptree.trees.training",
    "Tree": "maptree.trees.tree",
    "choose_size": "maptree.estimators.size_path",
    "compare": "maptree.estimators.comparing",
    "load_model": "maptree.estimators.saved",
    "log_posterior": "maptree.trees.log_posterior",
    "plot_search": "maptree.pictures.search_plot",
    "plot_sizes": "maptree.pictures.size_plot",
    "plot_tree": "maptree.pictures.tree_plot",
    "save_model": "maptree.estimators.saved",
    "scan_parquet": "maptree.tables.parquet",
    "size_path": "maptree.estimators.size_path",
    "write_report": "maptree.pictures.report.write",
}

if not TYPE_CHECKING:  # so that type checkers know these names and no others

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version  # slow to import

            return version("maptree")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
