"""``MCMCTreeClassifier``: trees drawn from the posterior by Markov chains."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from maptree import _core
from maptree.encoding.encoder import BinaryEncoder
from maptree.engine.chains import draw_chains
from maptree.engine.diagnostics import Diagnostics, diagnose
from maptree.engine.initial_tree import read_initial_tree
from maptree.engine.progress import SamplerProgress
from maptree.engine.sampling import Drawn
from maptree.estimators.sampled import Factory, MixingWarning, SampledTreeClassifier
from maptree.parameters.budget import Constraints
from maptree.parameters.sampling import Lengths
from maptree.trees.average import MOVES, Acceptance, Chains
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import FittedTree
from maptree.trees.one_scale import obstacle

# Longer chains than this are not proposed.
_MOST_TIMES = 1000.0


class MCMCTreeClassifier(SampledTreeClassifier[_core.McmcSamples]):
    r"""Decision trees drawn from their posterior by Markov chains, with averaged predictions.

    The posterior is that of ``MAPTreeClassifier``. The chains are those of Chipman, George and
    McCulloch, "Bayesian CART Model Search", JASA 1998: every iteration proposes to grow, prune,
    change or swap, and the Metropolis-Hastings rule accepts or rejects it. In the long run a chain
    visits each tree in proportion to its posterior probability. ``diagnostics()`` says whether the
    run was long enough; where it was not, ``fit`` warns with ``MixingWarning``.

    Parameters
    ----------
    alpha, beta : float, default=0.95, 0.5
        Prior on splits; 0 < alpha < 1, beta >= 0. Larger beta gives smaller trees.
    rho : float or array of one per class, default=None
        Pseudo-counts of each class in a leaf, above 0; None is 5 / number of classes.
    n_samples : int, default=250
        Trees kept from each chain.
    burn_in : int or "auto", default="auto"
        Iterations of each chain before the first tree is kept; "auto": half as many as after that.
    thin : int or "auto", default="auto"
        Iterations from one kept tree to the next; a chain makes burn_in + n_samples * thin.
        "auto": as many as it takes for the chains to mix with some margin, in rounds of growing
        length and up to a limit of some seconds on one core. The result depends on ``random_state``
        alone, not on the clock, unless there is a ``time_limit``.
    n_chains : int, default=4
        Independent chains; at most 65,536.
    initial_tree : "search", Tree, fitted classifier or None, default="search"
        Where chains start: at the best tree of a short search (100 expansions); at a given tree,
        such as that of a ``MAPTreeClassifier`` fitted to the same table, whose certificate is then
        kept; None is a single leaf. A Tree must use the binary tests of this fit.
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
    certificate_ : Certificate or None
        What is proved about it, where ``initial_tree`` is a ``MAPTreeClassifier`` fitted to the
        same rows with the same tests and prior, without constraints; None otherwise.
    trace_ : structured array
        seconds, steps, log_posterior: for each better tree, when and after how many iterations of
        all chains it was found; and for the end.
    burn_in_, thin_ : int
        The lengths used, whether they were given or "auto".
    log_posteriors_ : float64 array (n_chains, iterations)
        Of each chain's tree after every ``thin_``-th iteration, burn-in included: that is
        ``burn_in_ / thin_ + n_samples`` columns. If a limit stopped the chains, there are as many
        columns as the longest chain needs, and NaN where other chains have none. A model that was
        loaded from a file does not have it.
    acceptance_ : dict
        For the moves "grow", "prune", "change" and "swap": proposed, accepted, rate. A change to
        the same test counts as accepted.
    status_ : str
        ``complete``, ``time_limit``, ``memory_limit``, ``class_limit`` or ``interrupted``. Chains
        and trees may take 256 MiB. ``class_limit``: most of that are the class counts of the trees;
        merge classes. ``memory_limit``: the chains take it; pass fewer of them. The samples drawn
        before that are kept.
    feature_importances_ : float64 array (columns,)
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

    log_posteriors_: NDArray[np.float64]

    def __init__(
        self,
        alpha: float = 0.95,
        beta: float = 0.5,
        rho: float | ArrayLike | None = None,
        n_samples: int = 250,
        burn_in: int | str = "auto",
        thin: int | str = "auto",
        n_chains: int = 4,
        initial_tree: Any = "search",
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

    @property
    def samples_(self) -> NDArray[np.int32]:
        """The index in ``trees_`` of each sample of each chain."""
        return self._average.weighted.sample

    @property
    def acceptance_(self) -> dict[str, Acceptance]:
        """How often each kind of move was proposed and accepted."""
        return dict(self._chains.acceptance)

    @property
    def burn_in_(self) -> int:
        """Iterations of each chain before the first tree was kept."""
        return self._chains.burn_in

    @property
    def thin_(self) -> int:
        """Iterations from one kept tree to the next."""
        return self._chains.thin

    @property
    def _chains(self) -> Chains:
        origin = self._average.origin
        assert isinstance(origin, Chains)
        return origin

    def diagnostics(self) -> Diagnostics:
        """Return split R-hat and effective sample size of the log posterior of the kept samples.

        If a limit stopped some chains earlier than others, only as many samples per chain are used
        as all chains have.
        """
        check_is_fitted(self)
        return diagnose(self._average.draws)

    def _sampler(self) -> Factory[_core.McmcSamples]:
        lengths = Lengths.read(
            n_samples=self.n_samples, burn_in=self.burn_in, thin=self.thin, n_chains=self.n_chains
        )
        return lambda reading, seed: partial(
            draw_chains,
            lengths=lengths,
            start=read_initial_tree(self.initial_tree, reading.schema),
            seed=seed,
        )

    def _certified(self, fitted: FittedTree, log_posterior: float) -> Certificate | None:
        found = getattr(self.initial_tree, "fitted_", self.initial_tree)
        if not isinstance(found, FittedTree) or found.certificate is None:
            return None
        # Chains draw from all trees, so the certificate has to be about all of them.
        same = found.constraints == Constraints()
        same = same and found.classes.tolist() == fitted.classes.tolist()
        certificate = found.certificate.of_a_better_tree(log_posterior)
        same = same and not obstacle(found, replace(fitted, certificate=certificate))
        return certificate if same else None

    def _warn_of_mixing(self) -> None:
        found = self.diagnostics()
        if found.doubt and self.status_ == "complete":
            # Infinite where every chain stood still on a tree of its own.
            times = math.ceil(min(max(2.0, found.shortfall), _MOST_TIMES))
            warnings.warn(
                f"{found.doubt.replace(chr(10), ' ')} Draw from longer chains, such as "
                f"thin={times * self.thin_} and burn_in={times * self.burn_in_} ({times} times the "
                f"{self.burn_in_ + self.n_samples * self.thin_:,} iterations of this fit), or "
                "start them from the tree of a longer search: "
                "initial_tree=MAPTreeClassifier().fit(X, y).",
                MixingWarning,
                stacklevel=3,
            )

    def _sample_weights(self, samples: _core.McmcSamples) -> None:
        return None

    def _origin(self, drawn: Drawn[_core.McmcSamples]) -> Chains:
        proposed = drawn.samples.proposed.sum(axis=0).tolist()
        accepted = drawn.samples.accepted.sum(axis=0).tolist()
        assert drawn.lengths is not None
        return Chains(
            {move: Acceptance.of(*n) for move, *n in zip(MOVES, proposed, accepted, strict=True)},
            burn_in=drawn.lengths.burnt,
            thin=drawn.lengths.thin or 1,
        )

    def _own_attributes(self, drawn: Drawn[_core.McmcSamples]) -> dict[str, Any]:
        assert drawn.lengths is not None
        burn_in, thin = drawn.lengths.burnt, drawn.lengths.thin or 1
        first = (burn_in - 1) % thin  # so that the trees that were kept are among them
        return {"log_posteriors_": drawn.samples.log_posteriors[:, first::thin].copy()}
