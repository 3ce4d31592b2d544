"""Write ``deploy/grafana.json``: a dashboard with a panel for every metric of an installation, from the table of metrics.

The first panel lists the conditions that are raised; the tooltip of a panel has the words of the reference. Grafana
asks which Prometheus to use when the file is imported.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.core import CounterMetricFamily

from clearlane.api.operations.installation_metrics import (
    CASE_LABELS,
    METRICS,
    READ_HELP,
    WRITE_HELP,
    InstallationMetric,
)

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana.json"
COLUMNS, PANEL_WIDTH, PANEL_HEIGHT = 24, 8, 8
TABLE_HEIGHT = 9
# The last word of a metric's name says what it counts; Grafana calls the unit otherwise.
UNITS = {"seconds": "s", "days": "d"}
PER_NODE = frozenset(
    {
        "clearlane_writes_waiting",
        "clearlane_certificate_remaining_seconds",
        "clearlane_anchor_age_seconds",
    }
)
"""Metrics that each node has of its own: their panels have a line a node."""
CONDITION, BUILD = "clearlane_condition", "clearlane_build_info"
SHARE = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel of the dashboard: what it says, and the query behind it."""

    title: str
    help: str
    query: str
    legend: str
    unit: str = "short"
    is_table: bool = False


def panels() -> Iterator[Panel]:
    """Yield a panel for every metric: conditions first, then the installation's, then those of each node."""
    by_name = {row.name: row for row in METRICS}
    labels = ", ".join(("condition", "severity", *CASE_LABELS))
    yield Panel(
        title="Conditions that are raised",
        help=by_name[CONDITION].help,
        query=f"max by ({labels}) ({CONDITION}) > 0",
        legend="",
        is_table=True,
    )
    yield from (_panel(row) for row in METRICS if row.name not in {CONDITION, BUILD})
    yield _slowest("clearlane_write_seconds", WRITE_HELP, "instance")
    yield _slowest("clearlane_read_wait_seconds", READ_HELP, "instance")
    yield _slowest(
        "clearlane_request_seconds", "Seconds until a request is answered, by endpoint.", "endpoint"
    )
    yield Panel(
        title="Requests",
        help="Requests answered a second, by status.",
        query="sum by (status) (rate(clearlane_requests_total[$__rate_interval]))",
        legend="{{status}}",
        unit="reqps",
    )


def dashboard_text() -> str:
    """Return the dashboard as Grafana imports it."""
    dashboard = {
        "__inputs": [
            {"name": "DS_PROMETHEUS", "label": "Prometheus", "type": "datasource", "pluginId": "prometheus"}
        ],
        "uid": "clearlane",
        "title": "Clearlane",
        "description": "Written by `make docs` from the table of metrics. Do not edit.",
        "tags": ["clearlane"],
        "schemaVersion": 39,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-24h", "to": "now"},
        "panels": list(_placed(panels())),
    }  # fmt: skip
    return json.dumps(dashboard, indent=1) + "\n"


def _panel(row: InstallationMetric) -> Panel:
    title = row.name.removeprefix("clearlane_").replace("_", " ").capitalize()
    legend = " ".join(f"{{{{{label}}}}}" for label in row.labels)
    if row.kind is CounterMetricFamily:
        query = f"max by ({', '.join(row.labels)}) (increase({row.name}_total[1h]))"
        return Panel(title=f"{title} per hour", help=row.help, query=query, legend=legend)
    last = next((word for word in reversed(row.name.split("_")) if word in UNITS), "")
    unit = UNITS.get(last, "short")
    if row.name in PER_NODE:
        return Panel(title=title, help=row.help, query=row.name, legend="{{instance}}", unit=unit)
    # Every node shows the same figures of the installation: their maximum is one line.
    over = f" by ({', '.join(row.labels)})" if row.labels else ""
    query = f"max{over} ({row.name})"
    return Panel(title=title, help=row.help, query=query, legend=legend or title, unit=unit)


def _slowest(name: str, help: str, label: str) -> Panel:
    title = name.removeprefix("clearlane_").removesuffix("_seconds").replace("_", " ").capitalize()
    query = (
        f"histogram_quantile({SHARE}, sum by (le, {label}) (rate({name}_bucket[$__rate_interval])))"
    )
    return Panel(
        title=f"{title}: {SHARE:.0%} are faster", help=help, query=query, legend=f"{{{{{label}}}}}", unit="s"
    )  # fmt: skip


def _placed(found: Iterator[Panel]) -> Iterator[dict[str, object]]:
    x = y = 0
    source = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}
    for id, panel in enumerate(found, 1):
        width, height = (COLUMNS, TABLE_HEIGHT) if panel.is_table else (PANEL_WIDTH, PANEL_HEIGHT)
        target: dict[str, object] = {"refId": "A", "datasource": source, "expr": panel.query}
        target |= (
            {"format": "table", "instant": True}
            if panel.is_table
            else {"legendFormat": panel.legend}
        )
        yield {
            "id": id,
            "type": "table" if panel.is_table else "timeseries",
            "title": panel.title,
            "description": panel.help,
            "datasource": source,
            "gridPos": {"x": x, "y": y, "w": width, "h": height},
            "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
            "targets": [target],
        }
        x += width
        if x >= COLUMNS:
            x, y = 0, y + height
