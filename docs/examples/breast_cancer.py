"""Breast cancer: which of 569 lumps are malignant? ``python docs/examples/breast_cancer.py``."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from sklearn.datasets import load_breast_cancer

from comparison import PEERS, System, compare, map_tree
from maptree import MAPTreeClassifier
from page import Page, tell

FOLDS, REPEATS = 5, 1
WORK, FOLD_WORK = 20_000, 5_000  # expansions for the tree to show, and for those compared


def load(rows: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Return the measurements and the diagnoses; ``rows`` of them, or all."""
    data = load_breast_cancer(as_frame=True)
    table = data.data.assign(diagnosis=data.target_names[data.target])
    if rows is not None and rows < len(table):
        table = table.sample(rows, random_state=0)
    return table.drop(columns="diagnosis"), table["diagnosis"]


def story(page: Page, rows: int | None = None, peers: Sequence[System] = PEERS) -> None:
    """Fit one tree to show, then compare on rows held out."""
    page.say(
        """
        # Breast cancer: which lumps are malignant?

        A thin needle takes cells from a lump in the breast. Under the microscope the nuclei are
        outlined, and ten properties measured: their area, their texture, how dented the outline is
        (concave points), and so on. Of each the table has the mean, its standard error, and
        "worst", the mean of the three largest values: 30 numbers for each of 569 lumps, of which
        212 were malignant.

        The data are the Wisconsin Diagnostic Breast Cancer set (Street, Wolberg and Mangasarian
        1993), which the UCI repository offers under CC BY 4.0, as it comes with scikit-learn
        (BSD-3-Clause).

        ## The tree
        """
    )
    X, y = load(rows)
    model = MAPTreeClassifier(time_limit=None, max_expansions=WORK).fit(X, y)
    page.show(model.export_text())
    page.say(
        """
        A line is the outcome of a test, and the lines indented below it are the branch that
        follows. A leaf shows the more probable diagnosis, its probability with a 95% credible
        interval, and the number of lumps behind it. The same as rules, each of which can be read by
        itself:
        """
    )
    page.show("\n".join(model.rules()))
    page.say(
        """
        Large nuclei (`worst area`) with dented outlines (`mean concavity`) are nearly always
        malignant; small ones with smooth outlines (`worst concave points`) nearly always benign.
        Between the two the texture decides, with less certainty, and the intervals say so. The
        smallest leaves admit to doubt: a handful of lumps, a wide interval. There somebody should
        look again.

        To miss a cancer is worse than to look twice, so nobody would decide at one half. The
        probabilities are there for any other threshold. At 0.15, on the lumps that the tree was
        made from:
        """
    )
    malignant = model.predict_proba(X)[:, list(model.classes_).index("malignant")]
    decision = pd.Series(malignant > 0.15, y.index).map({True: "look again", False: "leave it"})
    page.show(pd.crosstab(y, decision).rename_axis(columns=None))
    page.say(
        """
        ## What is proved

        Each number became tests such as `worst area <= 868.2`, at most 32 of them, placed where the
        diagnosis changes. The certificate is about all trees over these tests:
        """
    )
    page.show(model.certificate_)
    page.say(
        """
        So the most probable tree of all is not known: within its limit the search could not rule
        out that a deeper tree is better, and the gap is the most that it could be better by. What
        is certain is that no tree up to the depth stated is more probable, whichever tests it has
        in whichever order.
        """
    )
    systems = [map_tree(max_expansions=FOLD_WORK), *peers]
    page.compare(compare(X, y, systems, FOLDS, REPEATS), FOLDS, REPEATS)
    page.say(
        """
        As accurate as a tuned CART, with better probabilities, from a tree that is smaller. The
        forest and the EBM predict better: how malignant a nucleus looks is a matter of degree,
        which many small steps follow and six leaves do not. Whoever needs the prediction alone
        should take one of them; the tree is for those who have to say why.
        """
    )


if __name__ == "__main__":
    tell(story)
