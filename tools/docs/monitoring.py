"""Write what monitoring needs from the tables of conditions and metrics: two reference pages and the alert rules."""

from collections.abc import Iterator
from pathlib import Path

import yaml
from prometheus_client.core import CounterMetricFamily

from clearlane.api.operations.installation_metrics import (
    METRICS,
    PAYER_LABELS_MAX,
    READ_HELP,
    WRITE_HELP,
    InstallationMetric,
)
from clearlane.pipeline.query.installation.conditions import (
    CONDITIONS,
    Condition,
    ConditionSeverity,
)
from clearlane.pipeline.query.installation.measures import CLAIMS_COUNTED_SECONDS, MEASURED_SECONDS
from tools.docs.markdown import grid

RULES = Path(__file__).parents[2] / "deploy" / "clearlane.rules.yml"
RULES_NOTE = "# Alert rules for Prometheus. Written by `make docs` from the table of conditions. Do not edit.\n"
# What Prometheus calls how urgent an alert is.
SEVERITIES = {ConditionSeverity.WARNING: "warning", ConditionSeverity.FAULT: "critical"}
DOWN_MINUTES = 5
OF_NODE = " Each node tells it of itself, in `/readyz` and `/metrics`; a command may not know it."


def conditions_page() -> Iterator[str]:
    """Write every condition: what is measured, when it is raised, what to do."""
    yield "# Conditions"
    yield ""
    yield (
        "What an operator is warned of. The same table makes the `warnings` of `/readyz`, `clearlane doctor`, "
        "`clearlane status`, the parts on the console's home page, the metric `clearlane_condition` and the alert rules "
        "in `deploy/clearlane.rules.yml`. A *fault* needs attention now: something does not go out, does not come in, or could be "
        "lost. A *warning* needs attention within a day or so, while work goes on. "
        "[How to watch an installation](../how-to/monitoring.md)."
    )
    for condition in CONDITIONS:
        yield ""
        yield f"## {condition.name}"
        yield ""
        ends = "until a person acts" if condition.needs_person else "until it ends by itself"
        yield f"A {condition.severity.value} about *{condition.part.value.lower()}*, {ends}.{OF_NODE * condition.of_node}"
        yield ""
        yield f"* Measured: {condition.measured}"
        yield f"* Do: {condition.do}"
        yield f"* Alert after {condition.alert_minutes} minutes."


def metrics_page() -> Iterator[str]:
    """Write every metric of an installation."""
    yield "# Metrics"
    yield ""
    yield (
        "What `/metrics` of the operations address shows about the installation, beside the metrics of the process itself "
        "(`process_...`, `clearlane_requests_total` and `clearlane_request_seconds` by endpoint, `clearlane_failed_logins_total`, "
        "`clearlane_connections`, `clearlane_broken_connections_total`). They are counted in the database, so every node shows "
        f"the same; ask one of them, or take the maximum. They are at most {MEASURED_SECONDS} seconds old, `clearlane_claims` "
        f"{CLAIMS_COUNTED_SECONDS} seconds. `clearlane_measured` is 0 while the database cannot be asked. Labels are names of our "
        f"own tables: no patient, no client. Of payers {PAYER_LABELS_MAX} have a label of their own, those with the highest values; "
        "`others` is the rest. A payer's `type` is the type of claims, `route` the number in `clearlane route list`."
    )
    yield ""
    rows: list[list[object]] = [
        [f"`{_full_name(row)}`", ", ".join(f"`{label}`" for label in row.labels), row.help]
        for row in METRICS
    ]
    rows.append(["`clearlane_write_seconds`", "", f"{WRITE_HELP} A histogram, of this node."])
    rows.append(["`clearlane_read_wait_seconds`", "", f"{READ_HELP} A histogram, of this node."])
    yield from grid(["Metric", "Labels", "What it says"], rows)


def alert_rules() -> str:
    """Return the alert rules: one for each condition, one for nodes that do not answer, one for what cannot be measured."""
    rules: list[dict[str, object]] = [
        _rule(
            "ClearlaneDown",
            'up{job="clearlane"} == 0',
            DOWN_MINUTES,
            "critical",
            "Node {{ $labels.instance }} does not answer.",
            "Look at the machine and the log of the node; start it again.",
        ),
        _rule(
            "ClearlaneNotMeasured",
            "clearlane_measured == 0",
            DOWN_MINUTES,
            "critical",
            "Node {{ $labels.instance }} cannot ask its database.",
            "See /readyz of the node.",
        ),
        *map(_condition_rule, CONDITIONS),
    ]
    text = yaml.safe_dump(
        {"groups": [{"name": "clearlane", "rules": rules}]},
        sort_keys=False,
        width=110,
        allow_unicode=True,
    )
    return RULES_NOTE + text


def alert_name(condition: Condition) -> str:
    """Return the name of the alert of a condition."""
    return "Clearlane" + "".join(word.capitalize() for word in condition.name.split("-"))


def _condition_rule(condition: Condition) -> dict[str, object]:
    selected = f'clearlane_condition{{condition="{condition.name}"}}'
    # Every node shows the same conditions of the installation, so their maximum is one alert for each payer and route.
    cases = (
        selected if condition.of_node else f"max by (condition, payer, type, route) ({selected})"
    )
    return _rule(
        alert_name(condition),
        f"{cases} > 0",
        condition.alert_minutes,
        SEVERITIES[condition.severity],
        f"{condition.name}"
        "{{ if $labels.payer }}: payer {{ $labels.payer }}{{ end }}"
        "{{ if $labels.route }}, route {{ $labels.route }}{{ end }}"
        "{{ if $labels.instance }} (node {{ $labels.instance }}){{ end }}",
        f"{condition.measured} {condition.do}",
    )


def _rule(
    name: str, expression: str, minutes: int, severity: str, summary: str, description: str
) -> dict[str, object]:
    return {
        "alert": name,
        "expr": expression,
        "for": f"{minutes}m",
        "labels": {"severity": severity},
        "annotations": {"summary": summary, "description": description},
    }


def _full_name(row: InstallationMetric) -> str:
    return f"{row.name}_total" if row.kind is CounterMetricFamily else row.name
