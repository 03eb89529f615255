"""Does our Tree say what the peer itself says? Run by the interpreter of the peers' environment.

    python tests/support/peer_check.py dl85 tic-tac-toe

It prints a line of JSON for each setting. pytest is not installed there.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from experiments import data, systems

SETTINGS = {
    "dl85": [{"max_depth": 2}, {"max_depth": 4, "time_limit": 1}],
    "gosdt": [
        {"regularization": 0.005, "depth_budget": 3},
        {"regularization": 0.3125, "time_limit": 2},
    ],
    "streed": [
        {"max_depth": 2},
        {"max_depth": 4, "time_limit": 1.0},
        {"max_depth": 3, "optimization_task": "accuracy-flex", "accuracy_objective": "bayes"},
    ],
}
CLASSIFIERS = {"dl85": "DL85Classifier", "gosdt": "GOSDTClassifier", "streed": "STreeDClassifier"}


def main() -> None:
    system, name = sys.argv[1:]
    module = systems.load(system)
    split = data.load({"kind": "cp4im", "name": name, "fold": 0})
    for setting in SETTINGS[system]:
        model = getattr(module, CLASSIFIERS[system])(**setting).fit(split.X_train, split.y_train)
        tree = module.convert(model, split.X_train, split.y_train)
        differ = ties = 0
        for X in (split.X_train, split.X_test):
            counts = tree.counts[tree.apply(X)]
            tied = counts[:, 0] == counts[:, 1]  # either label is right
            ours = counts.argmax(axis=1)
            differ += int((~tied & (ours != model.predict(X))).sum())
            ties += int(tied.sum())
        errors = int(tree.counts[tree.feature < 0].min(axis=1).sum())
        peers_errors = int((np.asarray(model.predict(split.X_train)) != split.y_train).sum())
        found = {"differ": differ, "tied": ties, "nodes": tree.node_count, "depth": tree.depth}
        print(json.dumps(found | {"errors": errors, "peers_errors": peers_errors}), flush=True)


if __name__ == "__main__":
    main()
