"""Each claim rule has an example in the package: what fails by it, and what passes."""

from clearlane.claims.responses.rule_examples import example_of
from clearlane.claims.rules import RULES
from tools.docs.rule_examples import TARGET, examples_text


def test_the_examples_of_the_package_are_the_cases_of_the_tests():
    assert TARGET.read_text(encoding="utf-8") == examples_text(), "run make docs"


def test_every_rule_has_an_example():
    examples = {id: example_of(id) for id in RULES}
    assert [
        id for id, one in examples.items() if one is None or not (one.fails and one.passes)
    ] == []
    assert example_of("NONE") is None


def test_what_is_known_beside_the_claim_is_said_in_words():
    assert example_of("C102").fails == "payer: none; payer of other type: yes"
    assert example_of("C105") == ("sandbox: no", "sandbox: yes")
