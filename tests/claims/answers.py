"""Responses of invented payers, written by hand for claims that were sent."""

import json
from datetime import date, datetime

from clearlane.claims.forms import V3_MEDICAL, form_of
from clearlane.claims.forms.samples import document
from clearlane.claims.read.decode import read_document
from clearlane.claims.read.repairs import repair
from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import GroupAck, InterchangeAck
from clearlane.claims.responses.claim_parts import AckParts
from clearlane.claims.write.sent_layout import read_layout
from clearlane.claims.write.write_837 import Envelope, OutgoingClaim, TradingPartner, write_claims

DAY = date(2026, 10, 1)
NOW = datetime(2026, 11, 1, 12, 0)


def claim(kind=V3_MEDICAL, *, full=False, **fields):
    """A claim of the sample document, some fields changed."""
    made = document(kind, day=DAY, full=full)
    made["Claims"][0] |= fields
    _, [read] = read_document(json.dumps(made).encode(), kind)
    assert read.claim is not None, read.findings
    return repair(read.claim)[0]


def outgoing(number, one=None):
    return OutgoingClaim(
        claim=one or claim(), number=number, payer_id="TST01", payer_name="MEADOW MUTUAL"
    )


def sent(*claims, kind=V3_MEDICAL, control=21):
    """The interchange that these claims went in."""
    envelope = Envelope(sender="CLEARLANE", receiver="MEADOW", control=control, moment=NOW)
    us = TradingPartner(name="CLEARLANE", id="CLEARLANE", phone="5125550100")
    payer = TradingPartner(name="MEADOW MUTUAL", id="MEADOW")
    return b"".join(write_claims(claims, envelope, us, payer))


def controls(out):
    """The line control numbers that a claim goes out with."""
    [one] = read_layout(sent(out, kind=form_of(out.claim).kind)).claims
    return one.controls


def sealed(
    function, version, *sets, control=500, moment="20261102*0900", separators="*:^~", usage="P"
):
    """An interchange around sets; each is a list of segments without ST and SE, after its ST01 and ST03."""
    day, time = moment.split("*")
    text = (
        f"ISA*00*          *00*          *ZZ*MEADOW         *ZZ*CLEARLANE      *{day[2:]}*{time[:4]}"
        f"*^*00501*{control:09}*0*{usage}*:~GS*{function}*MEADOW*CLEARLANE*{day}*{time}*{control}*X*{version}~"
    )
    for number, (start, *segments) in enumerate(sets, 1):
        code, _, third = start.partition("*")
        text += "~".join([f"ST*{code}*{number:04}" + (f"*{third}" if third else ""), *segments])
        text += f"~SE*{len(segments) + 2}*{number:04}~"
    text += f"GE*{len(sets)}*{control}~IEA*1*{control:09}~"
    return text.translate(str.maketrans("*:^~", separators)).encode()


def ta1(control, verdict="R", note="006", *, own=500):
    return (
        f"ISA*00*          *00*          *ZZ*MEADOW         *ZZ*CLEARLANE      *261102*0900*^*00501"
        f"*{own:09}*0*P*:~TA1*{control:09}*261101*1200*{verdict}*{note}~IEA*0*{own:09}~"
    ).encode()


def nine(group, *answers, verdict="A", **more):
    """A 999: each answer is the segments from AK2 to IK5."""
    rows = [row for answer in answers for row in answer]
    accepted = sum(row.startswith(("IK5*A", "IK5*E")) for row in rows)
    counts = f"{len(answers) or 1}*{len(answers) or 1}*{accepted}"
    body = ["999*005010X231A1", f"AK1*HC*{group}*005010X222A1", *rows, f"AK9*{verdict}*{counts}"]
    return sealed("FA", "005010X231A1", body, **more)


def patient(account, *statuses, extra=(), name="ARDEN*ROSA"):
    """A patient of a 277CA with one claim."""
    return [
        f"NM1*QC*1*{name}****MI*M123", f"TRN*2*{account}", *(f"STC*{one}" for one in statuses), *extra,
    ]  # fmt: skip


def status(
    *patients, receiver="A1:19:PR*20261102*WQ*300", provider=(), version="005010X214",
    batch="0000000210001", **more,
):  # fmt: skip
    """A 277CA with its four levels and one provider."""
    rows = [
        f"277*{version}", "BHT*0085*08*77*20261102*0900*TH",
        "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*TST01", "TRN*1*T1", "DTP*050*D8*20261101",
        "DTP*009*D8*20261102",
        f"HL*2*1*21*{int(bool(patients or provider))}", "NM1*41*2*CLEARLANE*****46*CLEARLANE", f"TRN*2*{batch}",
        f"STC*{receiver}", "QTY*90*2", "AMT*YU*300",
    ]  # fmt: skip
    if patients or provider:
        rows += [
            f"HL*3*2*19*{int(bool(patients))}",
            "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
        ]
        rows += [f"STC*{one}" if not one.startswith(("TRN", "QTY")) else one for one in provider]
    for number, one in enumerate(patients, 4):
        rows += [f"HL*{number}*3*PT", *one]
    return sealed("HN", version, rows, **more)


def payment(*claims, amount="80", reference="EFT1", plb=(), day="20261114", **more):
    """An 835 with one check."""
    rows = [
        "835", f"BPR*I*{amount}*C*ACH*CCP*01*999999999*DA*1*1512345678**01*999999999*DA*2*{day}",
        f"TRN*1*{reference}*1512345678", f"DTM*405*{day}", "N1*PR*MEADOW MUTUAL*XV*TST01", "N3*1 LANE",
        "N4*AUSTIN*TX*78701", "PER*BL*HELP*TE*5125550100",
        "N1*PE*FERNHILL FAMILY PRACTICE*XX*1234567893", "LX*1", "TS3*1234567893*11*20261231*2*300",
    ]  # fmt: skip
    for one in claims:
        rows += one
    more.setdefault("moment", f"{day}*0900")
    return sealed("HP", "005010X221A1", [*rows, *plb], **more)


def paid(account, code="1", charged="100", paid="80", *rest, payer_number="P1", share="0"):
    """A claim of an 835."""
    name = "NM1*QC*1*ARDEN*ROSA****MI*M123"
    before = [
        one
        for one in rest
        if one.startswith("CAS") and "SVC" not in "".join(rest[: rest.index(one)])
    ]
    return [
        f"CLP*{account}*{code}*{charged}*{paid}*{share}*12*{payer_number}*11*1", *before, name,
        *(one for one in rest if one not in before),
    ]  # fmt: skip


def part_of(content, fact):
    """The claim's part of the file that a fact was read from."""
    for message in acks.read(content):
        if isinstance(message, InterchangeAck):
            own = message.where == fact.where
        elif isinstance(message, GroupAck):
            where = message.where
            own = [where.interchange, where.group, where.set] == [
                fact.where.interchange, fact.where.group, fact.where.set,
            ]  # fmt: skip
        else:
            own = message.fact.where == fact.where
        if own:
            return AckParts(message).of(fact)
    raise AssertionError("no message of the file is at the fact's position")
