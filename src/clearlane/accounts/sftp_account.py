"""SFTP accounts of sites as values: names of folders and files, quotas, and the checks of what an operator gives.

Knows no connection and no database.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from ipaddress import ip_address, ip_network

from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.kernel.ids import Scope, SiteId, VendorId

BYTES_PER_DAY_MAX = 2 * 1024**3
FILES_PER_DAY_MAX = 2_000
QUOTA_BYTES_MAX = 1024**4
QUOTA_FILES_MAX = 1_000_000
NETWORKS_MAX = 50

_NAME = re.compile(r"[a-z][a-z0-9._-]{0,31}", re.ASCII)
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


class SftpAccountState(StrEnum):
    """Whether an account may sign in."""

    ACTIVE = "active"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class SftpProfile:
    """Names of folders and files as a practice system or the clearinghouse before us has them."""

    in_folder: str
    out_folder: str
    for_whom: str
    uploads_at_root: bool = False
    """Whether a file that is put beside the folders counts as one put into the first."""
    out_name: str = ""
    """Name of a file in the second: text with ``{id}`` and ``{type}``; empty for the name that the file has here."""


PROFILES: Mapping[str, SftpProfile] = {
    "standard": SftpProfile("in", "out", "systems in which folders can be set"),
    "root": SftpProfile(
        "in", "out", "systems that upload to one directory, such as OpenEMR with `/`", True
    ),
    "inbound": SftpProfile(
        "inbound", "outbound", "sites that move from a server with inbound and outbound"
    ),
    "upload": SftpProfile(
        "upload", "download", "sites that move from a server with upload and download"
    ),
    "mailbox": SftpProfile(
        "SendFiles", "ReceiveFiles", "sites that move from a server with SendFiles and ReceiveFiles"
    ),
    "extension": SftpProfile(
        "in", "out", "systems that tell files by their ending", out_name="{id}.{type}"
    ),
}
DEFAULT_PROFILE = "standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class SftpAccount:
    """An account of a site."""

    id: int = 0
    name: str
    vendor_id: VendorId
    site_id: SiteId
    state: SftpAccountState = SftpAccountState.ACTIVE
    profile: str = DEFAULT_PROFILE
    in_folder: str = ""
    """Empty for the folder of the profile; the same holds for the other."""
    out_folder: str = ""
    password_hash: str = field(default="", repr=False)
    """Empty for an account that signs in with keys only."""
    networks: tuple[str, ...] = ()
    """From where it may sign in; empty for anywhere."""
    older_algorithms: bool = False
    bytes_per_day_max: int = BYTES_PER_DAY_MAX
    files_per_day_max: int = FILES_PER_DAY_MAX
    signed_in_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """The rows that the account may access."""
        return Scope(vendor=self.vendor_id, site=self.site_id)

    @property
    def names(self) -> SftpProfile:
        """The names of its folders and files."""
        known = PROFILES.get(self.profile, PROFILES[DEFAULT_PROFILE])
        return SftpProfile(
            self.in_folder or known.in_folder,
            self.out_folder or known.out_folder,
            known.for_whom,
            known.uploads_at_root,
            known.out_name,
        )

    def allows_address(self, address: str) -> bool:
        """Return whether the account may sign in from an address."""
        if not self.networks:
            return True
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return any(found in ip_network(each, strict=False) for each in self.networks)


def normalize_account_name(name: str) -> str:
    """Return the name under which an account is stored."""
    return name.strip().lower()


def account_findings(account: SftpAccount) -> list[Finding]:
    """Return every finding about an account that is to be added."""
    return list(_account_findings(account))


def _account_findings(account: SftpAccount) -> Iterator[Finding]:
    if not _NAME.fullmatch(account.name):
        yield _finding(
            "NAME",
            "An account's name has at most 32 letters, digits, dots, hyphens and underscores, a letter first.",
        )
    if account.profile not in PROFILES:
        yield _finding("PROFILE", f"There is no such profile. There are {', '.join(PROFILES)}.")
    folders = (account.names.in_folder, account.names.out_folder)
    for option, folder in zip(("IN_FOLDER", "OUT_FOLDER"), folders, strict=True):
        if not _FOLDER.fullmatch(folder):
            yield _finding(
                option,
                "A folder's name has at most 64 letters, digits, dots, hyphens and underscores.",
            )
    if folders[0].lower() == folders[1].lower():
        yield _finding("OUT_FOLDER", "The two folders have one name. Give them different names.")
    yield from _network_findings(account.networks)
    if account.password_hash and not account.networks:
        yield _finding(
            "NETWORK", "An account with a password needs a list of networks: give --network."
        )
    yield from _quota_findings("BYTES_PER_DAY", account.bytes_per_day_max, QUOTA_BYTES_MAX)
    yield from _quota_findings("FILES_PER_DAY", account.files_per_day_max, QUOTA_FILES_MAX)


def _network_findings(networks: Sequence[str]) -> Iterator[Finding]:
    if len(networks) > NETWORKS_MAX:
        yield _finding("NETWORK", f"Give at most {NETWORKS_MAX} networks.")
    for each in networks:
        try:
            ip_network(each, strict=False)
        except ValueError:
            yield _finding(
                "NETWORK", "A network is an address, or a network such as 203.0.113.0/24."
            )


def _quota_findings(option: str, value: int, most: int) -> Iterator[Finding]:
    if not 1 <= value <= most:
        yield _finding(option, f"Give a whole number from 1 to {most}.")


def _finding(location: str, message: str) -> Finding:
    return make_shape_finding("ACC011", location, message)
