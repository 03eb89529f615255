"""``python -m maptree.demo``: the most probable tree for tic-tac-toe, with its proof."""

from __future__ import annotations

import numpy as np

from maptree.datasets import load_tic_tac_toe
from maptree.map_classifier import MAPTreeClassifier


def main() -> None:
    """Fit the embedded data set until the tree is proved, and print what was found."""
    boards = load_tic_tac_toe()
    labels = np.array(["no", "yes"])[boards.target]
    print(f"Tic-tac-toe: has x won? {len(labels)} final boards, {boards.data.shape[1]} tests.")
    print("Searching for the decision tree with the highest posterior probability.\n", flush=True)
    model = MAPTreeClassifier(time_limit=None, verbose=1)
    model.fit(boards.data, labels)

    tree, certificate = model.tree_, model.certificate_
    print("\nThe tree. A leaf gives the more probable answer, its probability with a 95%")
    print("credible interval, and the number of boards n with their answers.\n")
    print(model.export_text(feature_names=boards.feature_names))
    print(f"\n{tree.n_leaves} leaves, depth {tree.depth}. ", end="")
    print(f"Accuracy on these boards {model.score(boards.data, labels):.3f}.")
    print(f"\nCertificate:\n{certificate}")


if __name__ == "__main__":
    main()
