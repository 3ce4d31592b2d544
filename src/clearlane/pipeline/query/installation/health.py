"""Report the health of an installation by its parts, from the table of conditions. For operators at the console."""

from collections import Counter
from dataclasses import dataclass

from clearlane.pipeline.query.installation.conditions import ConditionPart, raised_conditions
from clearlane.pipeline.query.installation.measures import Measures


@dataclass(frozen=True, slots=True)
class HealthPart:
    """The health of one part of the installation."""

    name: str
    healthy: bool
    detail: str


def health(measures: Measures) -> list[HealthPart]:
    """Return the health of every part, the database first."""
    troubles: dict[ConditionPart, list[str]] = {part: [] for part in ConditionPart}
    for each in raised_conditions(measures):
        troubles[each.condition.part].append(each.sentence)
    return [
        HealthPart(part.value, not found, " ".join(found) or _well(part, measures))
        for part, found in troubles.items()
    ]


def _well(part: ConditionPart, measures: Measures) -> str:
    if part is not ConditionPart.NODES:
        return WELL[part]
    roles = Counter(node.role for node in measures.nodes)
    return "alive: " + ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))


# What is said of a part about which no condition is raised.
WELL = {
    ConditionPart.DATABASE: "answers",
    ConditionPart.AUDIT: "anchored",
    ConditionPart.DELIVERY: "go out",
    ConditionPart.ANSWERS: "come in",
    ConditionPart.ELIGIBILITY: "is answered",
    ConditionPart.EVENTS: "go to vendors",
}
