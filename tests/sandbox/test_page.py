"""The page about the sandbox says what the tables say.

Also tests `sandbox/enrollment_scenarios`.
"""

from clearlane.sandbox import enrollment_scenarios, plan, scenarios
from tools.docs.sandbox_pages import scenarios_page


def test_every_scenario_fee_and_limit_is_on_the_page():
    text = "\n".join(scenarios_page())
    for word in (*scenarios.SCENARIOS, *plan.MEDICAL.fees, *plan.DENTAL.fees, *plan.DENTAL.limits):
        assert f"`{word}`" in text


def test_the_end_of_a_tax_id_selects_what_payers_answer_to_an_enrollment():
    text = "\n".join(scenarios_page())
    for ending, row in enrollment_scenarios.ENROLLMENT_SCENARIOS.items():
        assert f"| `{ending}` | {row.title} |" in text
        assert enrollment_scenarios.answer_of(f"12345{ending}") is row.answer
        assert enrollment_scenarios.answer_of(f"{ending}12345").approves
