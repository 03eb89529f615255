"""``MCMCTreeClassifier``: trees drawn from the posterior by Markov chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from maptree import _core
from maptree.encoding.encoder import BinaryEncoder
from maptree.engine.diagnostics import Diagnostics, diagnose
from maptree.engine.initial_tree import read_initial_tree
from maptree.engine.progress import SamplerProgress
from maptree.estimators.base import Reading
from maptree.estimators.sampled import SampledTreeClassifier
from maptree.parameters.limits import MOST_CHAINS, MOST_SAMPLES
from maptree.parameters.numbers import whole_number
from maptree.trees.forest import WeightedTrees

MOVES = ("grow", "prune", "change", "swap")


class Acceptance(NamedTuple):
    """How often a move was proposed and accepted, and the acceptance rate."""

    proposed: int
    accepted: int
    rate: float


class MCMCTreeClassifier(SampledTreeClassifier[_core.McmcSamples]):
    r"""Decision trees drawn from their posterior by Markov chains, with averaged predictions.

    The posterior is that of ``MAPTreeClassifier``. The chains are those of Chipman, George and
    McCulloch, "Bayesian CART Model Search", JASA 1998: every iteration proposes to grow, prune,
    change or swap, and the Metropolis-Hastings rule accepts or rejects it. In the long run a chain
    visits each tree in proportion to its posterior probability; ``diagnostics()`` helps to judge
    whether the run was long enough.

    Parameters
    ----------
    alpha, beta : float, default=0.95, 0.5
        Prior on splits; 0 < alpha < 1, beta >= 0. Larger beta gives smaller trees.
    rho : float or array of one per class, default=None
        Pseudo-counts of each class in a leaf, above 0; None is 5 / number of classes.
    n_samples : int, default=1000
        Trees kept from each chain.
    burn_in : int, default=1000
        Iterations of each chain before the first tree is kept.
    thin : int, default=1
        Iterations from one kept tree to the next; a chain makes burn_in + n_samples * thin.
    n_chains : int, default=4
        Independent chains; at most 65,536.
    initial_tree : Tree, fitted classifier or None, default=None
        Where chains start, such as a fitted ``MAPTreeClassifier`` or its ``tree_``; None is a
        single leaf. A Tree must use the binary tests of this fit.
    time_limit : float or None, default=None
        Seconds for all of ``fit``; samples drawn before that are kept. A chain that has kept no
        sample by then keeps its current tree. Kept trees are merged at the end, so hundreds of
        thousands of them overrun the limit; use ``thin`` to keep fewer.
    encoder : "auto", BinaryEncoder or None, default="auto"
        How columns become binary tests, as in ``MAPTreeClassifier``.
    n_jobs : int or None, default=None
        Threads, which share the chains: None is one (or what a joblib context sets), -1 all
        cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the chains; an int gives the same samples every time.
    verbose : int, default=0
        1 shows a progress line on stderr.
    callback : callable or None, default=None
        Called with a ``SamplerProgress`` about 20 times a second; a true return value stops the
        chains and keeps the samples so far. An exception in it ends ``fit``.

    split_prior, column_weights
        Which tests the prior prefers, as in ``MAPTreeClassifier``.

    Attributes
    ----------
    classes_ : array (K,)
        The distinct labels, sorted.
    trees_ : sequence of Tree
        The distinct trees that were kept, the most frequent first.
    weights_ : float64 array (trees,)
        The share of the samples of each tree; they sum to 1.
    tree_log_posteriors_ : float64 array (trees,)
        Unnormalised log P(tree, labels | table) of each of them.
    samples_ : int32 array (n_chains, n_samples)
        The index in ``trees_`` of each sample. If a limit stopped the chains, there are as many
        columns as the longest chain has samples, and -1 where other chains have none.
    tree_ : Tree
        The most probable tree that any chain visited, kept or not.
    log_posterior_ : float
        Its log posterior.
    trace_ : structured array
        seconds, steps, log_posterior: for each better tree, when and after how many iterations of
        all chains it was found; and for the end.
    log_posteriors_ : float64 array (n_chains, burn_in + n_samples * thin)
        Of each chain's tree after every iteration. If a limit stopped the chains, there are as many
        columns as the longest chain has iterations, and NaN where other chains have none.
    acceptance_ : dict
        For the moves "grow", "prune", "change" and "swap": proposed, accepted, rate. A change to
        the same test counts as accepted.
    status_ : str
        ``complete``, ``time_limit``, ``memory_limit``, ``class_limit`` or ``interrupted``. Chains
        and trees may take 256 MiB. ``class_limit``: most of that are the class counts of the trees;
        merge classes. ``memory_limit``: the chains take it; pass fewer of them. The samples drawn
        before that are kept.
    feature_importances_ : float64 array (n_features_in_,)
        The expected number of splits on each column, scaled to sum to 1; all zero if every tree
        is a single leaf.
    encoder_ : BinaryEncoder or None
        The fitted encoder.
    rho_ : float64 array (K,)
        The pseudo-counts used.
    test_weights_ : uint32 array (tests,)
        The weights that the prior gives to the tests.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maptree import MCMCTreeClassifier
    >>> X = [[25.0], [31.0], [40.0], [47.0], [52.0], [60.0]] * 4
    >>> y = ["no", "no", "no", "yes", "yes", "yes"] * 4
    >>> model = MCMCTreeClassifier(random_state=0).fit(X, y)
    >>> print(*model.rules(), sep="\n")
    x0 <= 43.5  ->  no 0.85 [0.66, 0.97], n = 12
    x0 > 43.5  ->  yes 0.85 [0.66, 0.97], n = 12
    """

    samples_: NDArray[np.int32]
    log_posteriors_: NDArray[np.float64]
    acceptance_: dict[str, Acceptance]

    def __init__(
        self,
        alpha: float = 0.95,
        beta: float = 0.5,
        rho: float | ArrayLike | None = None,
        n_samples: int = 1000,
        burn_in: int = 1000,
        thin: int = 1,
        n_chains: int = 4,
        initial_tree: Any = None,
        time_limit: float | None = None,
        encoder: str | BinaryEncoder | None = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[SamplerProgress], object] | None = None,
        split_prior: str = "columns",
        column_weights: Mapping[str | int, float] | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.initial_tree = initial_tree
        self.time_limit = time_limit
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.split_prior = split_prior
        self.column_weights = column_weights

    def diagnostics(self) -> Diagnostics:
        """Return split R-hat and effective sample size of the log posterior of the kept samples.

        If a limit stopped some chains earlier than others, only as many samples per chain are used
        as all chains have.
        """
        check_is_fitted(self)
        n_draws = int((self.samples_ >= 0).sum(axis=1).min())
        return diagnose(self.tree_log_posteriors_[self.samples_[:, :n_draws]])

    def _sampler(self) -> Callable[[Reading, int], Callable[..., _core.McmcSamples]]:
        plan: dict[str, Any] = {
            "n_samples": whole_number("n_samples", self.n_samples, 1, MOST_SAMPLES),
            "burn_in": whole_number("burn_in", self.burn_in, least=0),
            "thin": whole_number("thin", self.thin, least=1),
            "n_chains": whole_number("n_chains", self.n_chains, 1, MOST_CHAINS),
        }

        def sampler(reading: Reading, seed: int) -> Callable[..., _core.McmcSamples]:
            initial = read_initial_tree(self.initial_tree, reading.schema)
            return partial(_core.sample_mcmc, initial=initial, seed=seed, **plan)

        return sampler

    def _sample_weights(self, samples: _core.McmcSamples) -> None:
        return None

    def _own_attributes(
        self, samples: _core.McmcSamples, weighted: WeightedTrees
    ) -> dict[str, Any]:
        proposed, accepted = samples.proposed.sum(axis=0), samples.accepted.sum(axis=0)
        acceptance = {
            move: Acceptance(int(p), int(a), float(a / p) if p else 0.0)
            for move, p, a in zip(MOVES, proposed, accepted, strict=True)
        }
        return {
            "samples_": weighted.sample,
            "log_posteriors_": samples.log_posteriors,
            "acceptance_": acceptance,
        }
