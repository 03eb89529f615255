"""The claims page: for each of the paper's claims whether it holds here, with the numbers."""

from __future__ import annotations

from experiments.claims import baselines, hyperparameters, noise, speed
from experiments.claims.claim import Claim
from experiments.markdown import table
from experiments.results import Results


def judge(results: Results) -> list[Claim]:
    """Return all claims, judged by the rows."""
    return [
        *speed.claims(results),
        *baselines.claims(results),
        *noise.claims(results),
        *hyperparameters.claims(results),
    ]


def page(results: Results) -> str:
    """Return the page as Markdown."""
    judged = judge(results)
    budget = results.budget
    parts = [
        "# The paper's claims, and what came of them here",
        (
            f"Computed from the rows of the budget *{budget.name}*. Each claim comes with the "
            "rule by which it was judged; where the rows do not suffice it says so. MAPTree is "
            "this library's search; in paper mode all of its shortcuts are off, which is the "
            "published algorithm. The samplers are this library's as well, in C++, and much "
            "faster than the published ones. *No difference shown* means that the 95% interval of "
            "the mean difference has 0 in it: that is no proof of equality."
        ),
        table(
            ["claim", "verdict", "here"],
            [[one.title, f"**{one.verdict}**", one.finding] for one in judged],
            words=3,
        ),
    ]
    for one in judged:
        parts += [f"## {one.title}", f"**{one.verdict.capitalize()}.** {one.finding}"]
        parts += [f"How it was judged: {one.rule}", one.detail]
    return "\n\n".join(part for part in parts if part) + "\n"
