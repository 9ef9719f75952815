"""What a verdict is: a sentence, how strong it is, what it leans on and the facts behind it."""

from dataclasses import dataclass
from typing import Any, Literal

from cpp_core.verdicts.language import sentence

Badge = Literal["guaranteed", "approximate"]
Claim = Literal["yes", "no", "open"]
"""Whether something is claimed, refused, or left open by this data."""

STRENGTH_WORDS: dict[Badge, str] = {
    "guaranteed": "✓ exact guarantee",
    "approximate": "≈ approximate",
}
"""How strong a claim is, in words."""
NOTHING_CLAIMED = {
    "too little data": "○ too little data",
    "not shown": "✕ not shown",
    "top": "✕ no bound inside the range",
    "failed": "✕ no finite bound",
    "all equal": "○ always equal",
    "both failed": "✕ both failed",
}
"""Outcomes without a claim, in words; all others are not decided."""

EXCHANGEABLE = "exchangeable cases"
INDEPENDENT = "independent cases"


@dataclass(frozen=True)
class Brief:
    """A verdict in at most 25 words; what it leaves out, the sentence in full says."""

    subject: str  # whom it is about, empty where it is about several
    lead: str  # the finding, in a few words
    rest: str  # what belongs to it: the rest of the sentence, with the mark before it if any
    claim: Claim = "yes"

    @property
    def detail(self) -> str:
        """The rest as a line of its own."""
        return self.rest.lstrip(",:; ")

    @property
    def line(self) -> str:
        """All of it as one line.

        >>> Brief("SVM-rbf", "at most 0.305 nats", "on the next case").line
        'SVM-rbf: at most 0.305 nats on the next case.'
        >>> Brief("", "not decided", ": about 400 cases would do", "open").line
        'Not decided: about 400 cases would do.'
        """
        said = self.lead + ("" if self.rest[:1] in ("", *",:;") else " ") + self.rest
        return f"{self.subject}: {said}." if self.subject else f"{sentence(said)}."


@dataclass(frozen=True)
class Verdict:
    """A sentence with what stands behind it."""

    text: str  # the sentence in plain words, with all its conditions
    badge: Badge
    assumptions: str  # what it leans on
    facts: dict[str, Any]  # k, m, alpha, n_algorithms and the numbers of the sentence, unrounded
    why: str  # the computation behind it
    brief: Brief  # what is shown before somebody asks why

    @property
    def claim(self) -> Claim:
        """Whether something is claimed: only then its badge says how strongly."""
        return self.brief.claim

    @property
    def mark(self) -> str:
        """How strong the claim is; where there is none, the outcome."""
        if self.claim == "yes":
            return STRENGTH_WORDS[self.badge]
        return NOTHING_CLAIMED.get(self.facts.get("outcome", ""), "○ not decided")
