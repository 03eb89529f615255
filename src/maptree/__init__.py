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
from maptree.encoding import BinaryEncoder
from maptree.estimator import InterruptedWarning, TimeLimitWarning
from maptree.map_classifier import MAPTreeClassifier
from maptree.progress import Progress
from maptree.scorer import log_posterior
from maptree.tree import Tree

__all__ = [
    "BinaryEncoder",
    "Certificate",
    "InterruptedWarning",
    "MAPTreeClassifier",
    "Progress",
    "TimeLimitWarning",
    "Tree",
    "__version__",
    "log_posterior",
]
__version__ = version("maptree")
