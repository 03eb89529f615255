"""``class_weight``, which scikit-learn's classifiers take and these cannot."""

from __future__ import annotations

from collections.abc import Mapping

_WHY = (
    "class_weight is not a parameter of {name}: the posterior counts rows, and a row that counts "
    "for more or less than one changes what the probabilities and the certificate are about. "
    "If classes are rare, nothing need be done: probabilities stay honest, so decide by "
    "predict_proba at the threshold that your costs ask for, in place of predict. "
    "To say beforehand that a class is likely or rare, give the prior one value per class, "
    "rho=[...] in the order of classes_."
)


def refuse_class_weight(params: Mapping[str, object], error: type[Exception], name: str) -> None:
    """Explain what to do instead, if ``class_weight`` is among the parameters of a classifier."""
    if "class_weight" in params:
        raise error(_WHY.format(name=name))
