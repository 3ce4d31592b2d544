"""The bill of materials of a release, in CycloneDX 1.6: what `clearlane[server]` runs on, with versions, hashes and licenses."""

import json
import uuid
from datetime import UTC, datetime

from tools.docs.licenses import Pin, license_of, pins
from tools.release.build import Source

NAMESPACE = uuid.UUID("5a1f6a3e-6a0e-5f0e-9a52-0f1a3f6f2d11")


def sbom_text(source: Source, wheel_sha256: str) -> str:
    """Return the bill of materials; equal wheels have equal ones."""
    made = datetime.fromtimestamp(source.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    components = [_component(pin) for pin in pins()]
    own = {
        "type": "application",
        "bom-ref": f"pkg:pypi/clearlane@{source.version}",
        "name": "clearlane",
        "version": source.version,
        "purl": f"pkg:pypi/clearlane@{source.version}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": wheel_sha256}],
    }
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, wheel_sha256)}",
        "version": 1,
        "metadata": {"timestamp": made, "component": own},
        "components": components,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [one["bom-ref"] for one in components]}
        ],
    }
    return json.dumps(bill, indent=2) + "\n"


def _component(pin: Pin) -> dict[str, object]:
    purl = f"pkg:pypi/{pin.name}@{pin.version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": pin.name,
        "version": pin.version,
        "purl": purl,
        "licenses": [{"expression": license_of(pin.name)}],
        # Which of the files is installed depends on the machine: these are the hashes of all.
        "externalReferences": [
            {
                "type": "distribution",
                "url": purl,
                "hashes": [{"alg": "SHA-256", "content": hashed} for hashed in pin.hashes],
            }
        ],
    }
