"""Check a bill of materials against the schema of CycloneDX: ``python -m tools.release.check_sbom FILE``.

Runs in the environment of the release programs, which has the schema.
"""

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main() -> None:
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"{sys.argv[1]} is no bill of materials of CycloneDX 1.6: {fault}")


if __name__ == "__main__":
    main()
