"""Invented files, and routes to the servers that the tests start."""

from clearlane.payers.routes import RouteKind, RouteSecrets, read_route

PASSWORD = "meadow gate & <latch>"


def interchange(version="005010X222A1", set_id="837", claims=1, filler=0):
    """A small interchange; it is carried here, not read."""
    isa = (
        "ISA*00*          *00*          *ZZ*CLEARLANE      *ZZ*MEADOW         "
        "*240305*1200*^*00501*000000001*0*T*:~"
    )
    body = "".join(
        f"CLM*A{n}*150***11:B:1*Y*A*Y*Y~NM1*IL*1*ARDEN*ROSA****MI*M{n}~" for n in range(claims)
    )
    gs = f"GS*HC*CLEARLANE*MEADOW*20240305*1200*1*X*{version}~"
    st = f"ST*{set_id}*0001*{version}~BHT*0019*00*1*20240305*1200*CH~"
    note = f"NTE*ADD*{'X' * filler}~" if filler else ""
    return f"{isa}{gs}{st}{body}{note}SE*3*0001~GE*1*1~IEA*1*000000001~".encode()


def route(kind, secrets=None, *, position=1, payer_id="MDW10", **options):
    """A route and its secrets; the test fails where they are not good."""
    given = {"sender_id": "CLEARLANE", "receiver_id": "MEADOW"} | options
    secrets = secrets or RouteSecrets()
    made, findings = read_route(
        payer_id=payer_id,
        type="Medical",
        kind=RouteKind(kind),
        position=position,
        options=[(name, str(value)) for name, value in given.items()],
        secrets=secrets,
    )
    assert made, findings
    return made, secrets
