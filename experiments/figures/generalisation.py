"""Generalisation: box plots over the sets, of the main settings and of all."""

from __future__ import annotations

from functools import partial

from experiments.comparison import standings
from experiments.figures import boxes
from experiments.figures.sheet import Sheet
from experiments.results import Results
from experiments.settings import COMPARED, MAIN, in_words

CAPTION = (
    "Unseen rows of {folds} of 10 stratified folds, {limit:g} s a fit. A dot is a set (mean over "
    "its folds), minus CART of depth 4 on the same folds; boxes from 25% to 75%, whiskers up to "
    "1.5 boxes. Right is better, but for nodes. Test log likelihood is shown by two definitions, "
    "the same for every system: *published*, the marginal likelihood of the test labels in the "
    "leaves under a fresh prior, and *posterior predictive*, the probability (count + rho) / "
    "(rows + sum of rho) that the training rows give to the label; rho 2.5. *ll own* in the table "
    "is of the leaves' frequencies, clipped at 0.001. GOSDT: price of a leaf; others: depth. "
    "STreeD (leaf likelihood, no prior on trees) and CART by cross-validation are not in the paper."
)
MAIN_ONLY = (
    " Not in this budget: {without}. The figure of all settings, generalisation-full, is drawn by "
    "the full budget only."
)


def sheets(results: Results) -> list[Sheet]:
    """Return the main figure, and the full one if more than the main settings were run."""
    rows = results.of("generalisation")
    caption = CAPTION.format(folds=len(results.budget.folds), limit=results.budget.limit)
    wanted = {"generalisation-main": ("Generalisation, main settings", MAIN)}
    if results.budget.all_settings:
        wanted["generalisation-full"] = ("Generalisation, all settings", COMPARED)
    else:
        caption += MAIN_ONLY.format(without=in_words(one for one in COMPARED if not one.main))
    made = []
    for name, (title, settings) in wanted.items():
        measured = standings(rows, settings, results.sets)
        made.append(
            Sheet(
                name=name,
                title=title,
                caption=caption,
                picture=partial(boxes.picture, measured),
                tables=[boxes.summary(measured)],
                details=[boxes.details(measured)],
            )
        )
    return made
