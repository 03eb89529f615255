"""``SMCTreeClassifier``: trees drawn from the posterior by a particle filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maptree import _core
from maptree.encoding.encoder import BinaryEncoder
from maptree.engine.progress import SamplerProgress
from maptree.engine.sampling import Drawn, Steering
from maptree.estimators.sampled import Factory, SampledTreeClassifier
from maptree.parameters.sampling import read_particles
from maptree.trees.average import Particles, mean_evidence


class SMCTreeClassifier(SampledTreeClassifier[_core.SmcSamples]):
    r"""Decision trees drawn from their posterior by a particle filter, with averaged predictions.

    The posterior is that of ``MAPTreeClassifier``. The filter is that of Lakshminarayanan, Roy and
    Teh, "Top-down particle filtering for Bayesian decision trees", ICML 2013: particles grow from
    the root, node by node, each weighted by how well it explains the labels; when few of them
    carry most of the weight, they are resampled. It needs no burn-in, and it estimates the
    evidence: the probability of the labels, averaged over the prior on trees.

    Parameters
    ----------
    alpha, beta : float, default=0.95, 0.5
        Prior on splits; 0 < alpha < 1, beta >= 0. Larger beta gives smaller trees.
    rho : float or array of one per class, default=None
        Pseudo-counts of each class in a leaf, above 0; None is 5 / number of classes.
    n_particles : int, default=1000
        Particles per island; at most 1,048,576.
    n_islands : int, default=1
        Independent filters; at most 65,536. Their trees are weighted by their evidence; several
        islands give a standard error of the evidence.
    proposal : "optimal" or "prior", default="optimal"
        How a node's split is drawn: from prior times likelihood of the next step, or from the
        prior.
    growth : "node" or "level", default="node"
        Decide one node of each particle per step, or all nodes of a level.
    resampling : "systematic" or "multinomial", default="systematic"
        How particles are resampled.
    ess_threshold : float, default=0.5
        Resample when the effective number of particles falls below this fraction of them; 0 to 1.
    time_limit : float or None, default=None
        Seconds for all of ``fit``. Nodes that are undecided by then become leaves and the weights
        stay as they are, so the result is only a rough approximation. Particles are merged at the
        end, so hundreds of thousands of them overrun the limit.
    encoder : "auto", BinaryEncoder or None, default="auto"
        How columns become binary tests, as in ``MAPTreeClassifier``.
    n_jobs : int or None, default=None
        Threads, which share the islands: None is one (or what a joblib context sets), -1 all
        cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the islands; an int gives the same particles every time.
    verbose : int, default=0
        1 shows a progress line on stderr.
    callback : callable or None, default=None
        Called with a ``SamplerProgress`` about 20 times a second; a true return value stops the
        filters and keeps the particles so far. An exception in it ends ``fit``.

    split_prior, column_weights
        Which tests the prior prefers, as in ``MAPTreeClassifier``.

    Attributes
    ----------
    classes_ : array (K,)
        The distinct labels, sorted.
    trees_ : sequence of Tree
        The distinct trees of the particles, in order of decreasing weight.
    weights_ : float64 array (trees,)
        The weight of each tree, over all islands; they sum to 1.
    tree_log_posteriors_ : float64 array (trees,)
        Unnormalised log P(tree, labels | table) of each of them.
    tree_ : Tree
        The most probable tree that was seen.
    log_posterior_ : float
        Its log posterior.
    trace_ : structured array
        seconds, steps, log_posterior: for each better tree, when and after how many decided nodes
        it was found; and for the end.
    log_evidence_ : float
        The logarithm of the estimate of P(labels | table), which is the mean of the islands'
        estimates. Each of these is unbiased.
    log_evidence_error_ : float
        Its standard error from the differences between islands; NaN if there is only one.
    log_evidences_ : float64 array (n_islands,)
        The logarithm of each island's estimate; NaN for islands that a time limit left no time for.
    resamplings_ : int64 array (n_islands,)
        How often each island resampled its particles.
    status_ : str
        ``complete``, ``time_limit``, ``class_limit`` (see ``MCMCTreeClassifier``),
        ``memory_limit`` (the class counts of the particles; pass fewer, or merge classes) or
        ``interrupted``.
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
    >>> from maptree import SMCTreeClassifier
    >>> X = [[25.0], [31.0], [40.0], [47.0], [52.0], [60.0]] * 4
    >>> y = ["no", "no", "no", "yes", "yes", "yes"] * 4
    >>> model = SMCTreeClassifier(random_state=0).fit(X, y)
    >>> print(*model.rules(), sep="\n")
    x0 <= 43.5  ->  no 0.85 [0.66, 0.97], n = 12
    x0 > 43.5  ->  yes 0.85 [0.66, 0.97], n = 12
    """

    def __init__(
        self,
        alpha: float = 0.95,
        beta: float = 0.5,
        rho: float | ArrayLike | None = None,
        n_particles: int = 1000,
        n_islands: int = 1,
        proposal: str = "optimal",
        growth: str = "node",
        resampling: str = "systematic",
        ess_threshold: float = 0.5,
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
        self.n_particles = n_particles
        self.n_islands = n_islands
        self.proposal = proposal
        self.growth = growth
        self.resampling = resampling
        self.ess_threshold = ess_threshold
        self.time_limit = time_limit
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.split_prior = split_prior
        self.column_weights = column_weights

    def _sampler(self) -> Factory[_core.SmcSamples]:
        plan = read_particles(
            n_particles=self.n_particles,
            n_islands=self.n_islands,
            proposal=self.proposal,
            growth=self.growth,
            resampling=self.resampling,
            ess_threshold=self.ess_threshold,
        )

        def draw(
            dataset: _core.Dataset,
            prior: _core.Prior,
            steering: Steering,
            seed: int,
        ) -> Drawn[_core.SmcSamples]:
            samples = _core.sample_smc(
                dataset,
                prior,
                seed=seed,
                limits=steering.limits(),
                on_progress=steering.monitor,
                **plan,
            )
            return Drawn(samples, samples.status, steering.earlier_seconds)

        return lambda _, seed: partial(draw, seed=seed)

    def _sample_weights(self, samples: _core.SmcSamples) -> NDArray[np.float64]:
        # Over all islands at once: an island's weights sum to its evidence.
        largest = samples.log_weights.max()
        weights: NDArray[np.float64] = np.exp(samples.log_weights - largest)
        return weights

    def _origin(self, drawn: Drawn[_core.SmcSamples]) -> Particles:
        return Particles(drawn.samples.log_evidence, drawn.samples.resamplings)

    @property
    def _particles(self) -> Particles:
        origin = self._average.origin
        assert isinstance(origin, Particles)
        return origin

    @property
    def log_evidences_(self) -> NDArray[np.float64]:
        """The logarithm of each island's estimate of the evidence."""
        return self._particles.log_evidences

    @property
    def log_evidence_(self) -> float:
        """The logarithm of the estimate of P(labels | table)."""
        return mean_evidence(self.log_evidences_)[0]

    @property
    def log_evidence_error_(self) -> float:
        """Its standard error; NaN if there is only one island."""
        return mean_evidence(self.log_evidences_)[1]

    @property
    def resamplings_(self) -> NDArray[np.int64]:
        """How often each island resampled its particles."""
        return self._particles.resamplings
