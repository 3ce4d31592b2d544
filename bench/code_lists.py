"""Submission with every code list imported, against the same without a list.

Two services run side by side and take documents in turns, so that what else the machine does falls on both. The lists of
NPIs and of pairs have more codes than are kept in memory, so that they are asked.
"""

import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice, product
from pathlib import Path

from bench.harness import Measure, bench
from bench.submit import CLEARLANE, DAY, a_document, serving, submitted
from clearlane.code_files.readers import READERS

CODES = 210_000
"""More than a node keeps in memory of one list."""
ROUNDS = 4
SECONDS = 3.0
FIRST, LAST = DAY - timedelta(days=40), DAY + timedelta(days=40)


def _tens() -> Iterator[str]:
    return (str(1_990_000_000 + number) for number in range(CODES))


def _procedures() -> list[str]:
    return [f"{number:05}" for number in range(90_000, 99_608)]


def _pairs() -> Iterator[str]:
    """Pairs without those of the claims that are sent."""
    own = (code for code in _procedures() if not code.startswith("992"))
    return (f"{one}\t{two}" for one, two in islice(product(own, repeat=2), CODES))


FILES: dict[str, tuple[str, str, Iterable[str]]] = {
    "hcpcs": ("HCPC_ANWEB.csv", "HCPC,RECID,ADD DT,TERM DT", (f"J{n:04},3,20200101," for n in range(9_000))),
    "cpt": ("cpt.txt", "Notice", _procedures()),
    "cdt": ("cdt.txt", "Notice", (f"D{number:04}" for number in range(10_000))),
    "ndc": ("product.txt", "PRODUCTNDC\tSTARTMARKETINGDATE\tENDMARKETINGDATE", (f"{n:05}-0001\t20200101\t" for n in range(90_000))),
    "taxonomy": ("nucc_taxonomy.csv", "Code,Section", (f"{n:03}Q00000X,Individual" for n in range(900))),
    "carc": ("carc.csv", "Code,Start,Stop", (f"{number},1/1/1995," for number in range(1, 300))),
    "mue": (
        "MCR_MUE_Practitioner.csv", "HCPCS/CPT Code,Practitioner Services MUE Values,MUE Adjudication Indicator",
        (f"{code},4,3 Date of Service Edit" for code in _procedures()),
    ),
    "ncci-ptp": ("ccipra.txt", "Edits\t", (f"{pair}\t\t20200101\t*\t1\tReason" for pair in _pairs())),
    "nppes": ("npidata_pfile_1-2.csv", '"NPI","Entity Type Code","EIN"', (f'"{npi}","1","{npi[::-1]}"' for npi in _tens())),
    "nppes-deactivated": ("NPPES Deactivated.csv", "NPI,NPPES Deactivation Date", (f"{npi},01/02/2020" for npi in _tens())),
}  # fmt: skip


def import_lists(data: str) -> None:
    """Import a file of each list into a service that runs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (member, head, rows) in FILES.items():
            assert name in READERS
            file = Path(folder) / f"{name}.zip"
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(member, "\n".join((head, *rows, "")))
            days = ("--from", f"{FIRST}", "--to", f"{LAST}")
            command = [*CLEARLANE, "codes", "import", name, str(file), *days, "--data", data]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@bench("v3.submit50.lists")
def submit_with_lists() -> Measure:
    """Documents of 50 claims with every list imported, against the same without a list."""
    document = a_document(50)
    rates: list[list[float]] = [[], []]
    with serving() as plain, serving() as listed:
        import_lists(listed["data"])
        for at in range(ROUNDS + 1):
            for own, facts in zip(rates, (plain, listed), strict=True):
                rate = submitted(facts, document, 4, SECONDS if at else 1)
                own += [rate] if at else []
    without, with_lists = (sorted(own)[len(own) // 2] for own in rates)
    return Measure("v3.submit50.lists", with_lists, "claims/s", with_lists / without, "no-lists")
