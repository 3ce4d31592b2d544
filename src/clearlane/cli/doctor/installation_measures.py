"""Measure an installation from a command, beside the nodes that run it: for `status` and `doctor`."""

from pathlib import Path

from clearlane.api.http.certificates import certificate_end
from clearlane.engine.backlog import read_backlog
from clearlane.pipeline.query.installation.measures import Measures
from clearlane.settings import Settings
from clearlane.wiring import Installation

LOCAL_CERTIFICATE = Path("tls/server.pem")


async def measure_installation(installation: Installation) -> Measures:
    """Return the measures of an installation, with those of its engine and of the certificate it serves."""
    settings, source = installation.settings, installation.measures
    file = certificate_file(settings)
    source.certificate_ends = lambda: certificate_end(file)
    source.backlog = lambda: read_backlog(settings.data, settings.session_url)
    return await source.measure()


def certificate_file(settings: Settings) -> Path:
    """Return the file of the certificate that `serve` on this machine serves."""
    if settings.tls_certificate:
        return Path(settings.tls_certificate).expanduser()
    return settings.data / LOCAL_CERTIFICATE
