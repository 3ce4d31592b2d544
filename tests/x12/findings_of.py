"""The findings of a file that was read, wherever they are kept."""

from collections.abc import Iterator

from clearlane.kernel.finding import Finding
from clearlane.x12.tree import X12File


def all_findings(file: X12File) -> Iterator[Finding]:
    """Yield the findings of the file and of each interchange, group and set."""
    yield from file.findings
    for interchange in file.interchanges:
        yield from interchange.findings
        for group in interchange.groups:
            yield from group.findings
            for set in group.sets:
                yield from set.findings
