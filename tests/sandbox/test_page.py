"""The page about the sandbox says what the tables say."""

from clearlane.sandbox import plan, scenarios


def test_every_scenario_fee_and_limit_is_on_the_page():
    text = "\n".join(scenarios.page())
    for word in (*scenarios.SCENARIOS, *plan.MEDICAL.fees, *plan.DENTAL.fees, *plan.DENTAL.limits):
        assert f"`{word}`" in text
