"""What operators start and watch the service with: settings that are named exist, alert rules and dashboard follow the tables.

Also tests tools/docs/dashboard.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from clearlane.api.operations.installation_metrics import METRICS
from clearlane.pipeline.query.installation.conditions import CONDITIONS
from clearlane.settings import all_settings, environment_variable
from tools.docs.dashboard import BUILD, COLUMNS, DASHBOARD, dashboard_text
from tools.docs.monitoring import RULES, alert_name, alert_rules

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "clearlane.service"
SETTINGS = {environment_variable(name) for name, _, _ in all_settings()}
EXPOSURE_MAX = 1.5
"""Of 10, as `systemd-analyze security` counts: lower is better."""


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_every_setting_that_is_named_exists(file):
    assert set(re.findall(r"CLEARLANE_[A-Z_]+", file.read_text(encoding="utf-8"))) <= SETTINGS


def test_the_image_runs_as_nobody_special_and_says_when_it_is_ill():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    final = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE)
    assert "/readyz" in final
    assert "requirements-dev.txt" not in text
    assert "pip" not in final


def test_every_node_of_the_compose_file_is_closed_in():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    nodes = [service for name, service in services.items() if name != "database"]
    assert len(nodes) == 3
    for node in nodes:
        assert node["read_only"] is True
        assert node["cap_drop"] == ["ALL"]
        assert node["depends_on"]["database"]["condition"] == "service_healthy"
    # Two nodes share no directory: each has its own keys of transport and its own anchor.
    assert services["one"]["volumes"] != services["two"]["volumes"]


def test_the_alert_rules_are_those_of_the_table():
    """`make docs` writes them."""
    text = RULES.read_text(encoding="utf-8")
    assert text == alert_rules()
    [group] = yaml.safe_load(text)["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert set(names) >= {alert_name(condition) for condition in CONDITIONS}
    assert len(set(names)) == len(names)


def test_the_dashboard_has_a_panel_for_every_metric_and_none_lies_on_another():
    """`make docs` writes it."""
    text = DASHBOARD.read_text(encoding="utf-8")
    assert text == dashboard_text()
    panels = json.loads(text)["panels"]
    queries = [panel["targets"][0]["expr"] for panel in panels]
    for row in METRICS:
        assert row.name == BUILD or any(re.search(rf"\b{row.name}", query) for query in queries)
    taken = set()
    for place in (panel["gridPos"] for panel in panels):
        assert place["x"] + place["w"] <= COLUMNS
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken
                taken.add((x, y))


@pytest.fixture
def promtool():
    """The tool of Prometheus that checks rules."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    return found


def test_prometheus_takes_the_alert_rules(promtool):
    done = subprocess.run(
        [promtool, "check", "rules", str(RULES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(CONDITIONS) + 2} rules found" in done.stdout


def test_prometheus_takes_the_queries_of_the_dashboard(promtool, tmp_path):
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    rules = [
        {"record": f"panel:{panel['id']}", "expr": panel["targets"][0]["expr"].replace("$__rate_interval", "5m")}
        for panel in panels
    ]  # fmt: skip
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run(
        [promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_alert_names_payer_and_route_once_however_many_nodes_tell_it(promtool, tmp_path):
    labels = {"condition": "payer-unreachable", "payer": "MM001", "type": "Medical", "route": "3"}
    text = ",".join(f'{name}="{value}"' for name, value in labels.items())
    series = [
        {"series": f'clearlane_condition{{{text},instance="{node}"}}', "values": "0+0x2 1+0x20"}
        for node in ("east", "west")
    ]
    rules = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"][0]["rules"]
    [rule] = [rule for rule in rules if rule["alert"] == "ClearlanePayerUnreachable"]
    raised = {
        "exp_labels": {"severity": "critical", **labels},
        "exp_annotations": {
            "summary": "payer-unreachable: payer MM001, route 3",
            "description": rule["annotations"]["description"],
        },
    }
    cases = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": series,
                "alert_rule_test": [
                    {
                        "eval_time": time,
                        "alertname": "ClearlanePayerUnreachable",
                        "exp_alerts": found,
                    }
                    for time, found in (("6m", []), ("10m", [raised]))
                ],
            }
        ],
    }
    file = tmp_path / "cases.yml"
    file.write_text(yaml.safe_dump(cases), encoding="utf-8")
    done = subprocess.run(
        [promtool, "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def unit(tmp_path):
    """The unit, starting a program that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    file = tmp_path / UNIT.name
    text = UNIT.read_text(encoding="utf-8")
    file.write_text(text.replace("/opt/clearlane/bin/clearlane", sys.executable), encoding="utf-8")
    return file


def test_systemd_takes_the_unit(unit):
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_exposes_little(unit):
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert exposure, done.stderr
    assert float(exposure[1]) <= EXPOSURE_MAX
