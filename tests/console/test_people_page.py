"""People in the console: invited by one-time addresses, with a password and a second factor of their own.

Also tests `console/account/me_page`, `console/operator/person_page`, `console/operator/role_form`, `console/account/qr_code`,
`pipeline/access/invitations`, `pipeline/access/change_role` and `store/accounts/console_credentials`.
"""

import re
import time

import pytest

from clearlane.accounts import totp
from clearlane.accounts.passwords import UNSET_PREFIX, verify_user_password
from clearlane.accounts.users import Access, ConsoleRole, UserState
from clearlane.console.account.qr_code import QUIET_MODULES, qr_path
from clearlane.pipeline.access import sign_in
from clearlane.pipeline.access.change_role import change_role
from clearlane.pipeline.access.sign_in import PasswordChecker, SignInForm
from clearlane.store.accounts import console_users
from clearlane.store.accounts.accounts import AccountRefused
from tests.console.console_user import secret_of
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY, ConsolePerson

ADDRESS = re.compile(r'data-copy="https://[^/]*/console(/open/\w+)\?next=/me"')
COOKIE = re.compile(r"__Host-clearlane-session=(\w+);")
RECOVERY = re.compile(r"<code>(\d{4}-\d{4}-\d{4})</code>")
SECRET = re.compile(r'name="secret" value="([A-Z2-7]+)"')
PASSWORD = "a long walk by the river"


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("people")) as made:
        yield made


@pytest.fixture(scope="module")
async def operator(sandbox):
    return await sandbox.person(ConsoleRole.OPERATOR)


async def open_address(operator, answer) -> ConsolePerson:
    """What the invited person does with the address."""
    [path] = ADDRESS.findall(answer.body.decode())
    stranger = ConsolePerson(operator.installation, operator.console, "n" * 32)
    opened = await stranger.ask(path)
    stranger.session = COOKIE.search(opened.headers["set-cookie"])[1]
    assert (await ConsolePerson(operator.installation, operator.console, "n" * 32).ask(path)).status_code == 403  # fmt: skip
    return stranger


def chosen(page: str, **other: str) -> dict[str, str]:
    """The form as a person fills it in."""
    secret = SECRET.search(page)[1]
    raw = secret_of(f"otpauth://totp/x?secret={secret}")
    code = totp.code_at(raw, totp.step_at(time.time()))
    return {"secret": secret, "password": PASSWORD, "repeated": PASSWORD, "code": code} | other


async def test_somebody_is_invited_and_chooses_both_factors(sandbox, operator):
    form = {"name": "Tessa", "role": "biller", "sites": "A-1"}
    answer = await operator.ask("/people/invite", form=form)
    tessa = await open_address(operator, answer)
    page = await tessa.text("/me")
    assert "Choose a password and set up your second factor" in page
    assert '<path class="qr-dark" d="M' in page
    for wrong, sentence in (
        ({"code": "000000"}, "not the code"), ({"repeated": "x"}, "differ"),
        ({"password": "short", "repeated": "short"}, "12 to"),
    ):  # fmt: skip
        answer = await tessa.ask("/me/credentials", form=chosen(page, **wrong))
        assert (answer.status_code, sentence in answer.body.decode()) == (400, True), wrong
    answer = await tessa.ask("/me/credentials", form=chosen(page))
    assert "Your password and second factor are stored." in answer.body.decode()
    assert len(RECOVERY.findall(answer.body.decode())) == 10
    # The current password is needed from now on.
    page = await tessa.text("/me")
    answer = await tessa.ask("/me/credentials", form=chosen(page, current="wrong"))
    assert (answer.status_code, b"This is not your password." in answer.body) == (400, True)
    answer = await tessa.ask("/me/credentials", form=chosen(page, current=PASSWORD))
    assert answer.status_code == 200
    # Both factors sign in.
    raw = secret_of(f"otpauth://totp/x?secret={SECRET.search(page)[1]}")
    code = totp.code_at(raw, totp.step_at(time.time()) + 1)
    session = await sign_in.sign_in(
        sandbox.installation.work_context, PasswordChecker(), SignInForm("tessa", PASSWORD, code),
        address="192.0.2.1", now=sandbox.installation.wall.now(), request_id="R",
    )  # fmt: skip
    assert session
    assert "2 sessions" in await tessa.text("/me")
    answer = await tessa.confirm("/me/sessions", form={})
    assert answer.headers["location"] == "/console/me?done=ended"
    assert "1 session" in await tessa.text("/me")


async def test_recovery_codes_are_shown_once_renewed_with_a_code_and_counted(sandbox, operator):
    answer = await operator.ask(
        "/people/invite", form={"name": "rosa", "role": "viewer", "sites": "A-1"}
    )
    rosa = await open_address(operator, answer)
    page = await rosa.text("/me")
    assert "Recovery codes" not in page
    answer = await rosa.ask("/me/credentials", form=chosen(page))
    first = RECOVERY.findall(answer.body.decode())
    page = await rosa.text("/me")
    assert (len(first), RECOVERY.findall(page), "10 codes left" in page) == (10, [], True)

    async def enter(code):
        return await sign_in.sign_in(
            sandbox.installation.work_context, PasswordChecker(),
            SignInForm("rosa", PASSWORD, code),
            address="192.0.2.1", now=sandbox.installation.wall.now(), request_id="R",
        )  # fmt: skip

    assert await enter(first[0].replace("-", " "))
    assert not await enter(first[0])
    assert "9 codes left" in await rosa.text("/me")
    answer = await rosa.ask("/me/recovery-codes", form={"code": "000000"})
    assert (answer.status_code, b"not a code that can be used" in answer.body) == (400, True)
    answer = await rosa.ask("/me/recovery-codes", form={"code": first[1]})
    second = RECOVERY.findall(answer.body.decode())
    assert (len(second), set(first) & set(second)) == (10, set())
    assert not await enter(first[2])
    assert await enter(second[0])
    await operator.confirm("/people/reset", form={"name": "rosa"})
    page = await operator.text(f"/people/{await id_of(operator, 'rosa')}")
    assert "<dt>Recovery codes left</dt><dd>0</dd>" in page
    audit = await operator.text("/audit?person=rosa")
    assert "recovery_code_used" in audit
    assert "9 left" in audit
    assert first[0] not in audit


async def id_of(operator, name) -> str:
    page = await operator.text("/people")
    return re.search(rf'/people/(\d+)[^"]*">{name}<', page)[1]


async def test_a_role_is_changed_and_open_sessions_follow_at_once(sandbox, operator):
    answer = await operator.ask(
        "/people/invite", form={"name": "milo", "role": "biller", "sites": "A-1"}
    )
    milo = await open_address(operator, answer)
    await milo.ask("/me/credentials", form=chosen(page := await milo.text("/me")))
    raw = secret_of(f"otpauth://totp/x?secret={SECRET.search(page)[1]}")
    path = f"/people/{await id_of(operator, 'milo')}"
    for role, form, sees, refused in (
        ("viewer", {"sites": ["A-1", "A-2"]}, "Fernhill Family Practice, Larkspur Dental", 403),
        ("biller", {"sites": "B-1"}, "Quarry Street Clinic", 403),
        ("support", {"vendor": "ACME"}, "all sites of Acme", 403),
        ("operator", {}, "everything", 200),
        ("biller", {"sites": "A-1"}, "Fernhill Family Practice", 403),
    ):
        answer = await operator.ask(f"{path}/role", form={"role": role, **form})
        assert answer.headers["location"] == f"/console{path}?done=role"
        page = await operator.text(path)
        assert f"<dd>{role}</dd>" in page
        assert f"<dd>{sees}</dd>" in page
        assert (await milo.ask("/people")).status_code == refused, role
        seen = "Larkspur Dental" in await milo.text("/")
        assert seen is (role in {"viewer", "support", "operator"}), role
    # The second factor works on, though it is sealed for another vendor in between.
    code = totp.code_at(raw, totp.step_at(time.time()) + 1)
    assert await sign_in.sign_in(
        sandbox.installation.work_context, PasswordChecker(), SignInForm("milo", PASSWORD, code),
        address="192.0.2.1", now=sandbox.installation.wall.now(), request_id="R",
    )  # fmt: skip
    again = await operator.ask(f"{path}/role", form={"role": "biller", "sites": "A-1"})
    assert again.headers["location"] == f"/console{path}?done=same"
    for form, sentence in (
        ({"role": "king"}, "Choose a role."), ({"role": "viewer"}, "Choose one or more sites"),
        ({"role": "biller", "sites": ["A-1", "B-1"]}, "sites of one vendor"),
    ):  # fmt: skip
        answer = await operator.ask(f"{path}/role", form=form)
        assert (answer.status_code, sentence in answer.body.decode()) == (400, True), form
    assert '<h2 id="sessions">Sessions</h2>' in await operator.text(path)
    answer = await operator.confirm(f"{path}/sessions", form={})
    assert answer.headers["location"] == f"/console{path}?done=ended"
    assert (await milo.ask("/me")).status_code == 303
    assert "operator to biller" in await operator.text("/audit?action=user.role")


async def test_nobody_takes_the_role_of_the_last_operator_or_their_own(sandbox, operator):
    installation = sandbox.installation
    users = await console_users.all_users(installation.database)
    operators = [user for user in users if user.role is ConsoleRole.OPERATOR]
    [own] = [user for user in operators if user.name.startswith("operator-0-")]
    answer = await operator.ask(
        f"/people/{own.id}/role", form={"role": "support", "vendor": "ACME"}
    )
    assert (answer.status_code, b"your own role" in answer.body) == (409, True)
    assert "This is you" in await operator.text(f"/people/{own.id}")
    assert operators == [own]
    access = Access(role=ConsoleRole.SUPPORT, vendor=sandbox.site("A-1").vendor_id, sites=None)
    with pytest.raises(AccountRefused, match="is the last operator"):
        await change_role(installation.work_context, own.name, access, actor=BY)
    with pytest.raises(AccountRefused, match="is the last operator"):
        await console_users.set_state(installation.database, own.name, UserState.DISABLED, actor=BY)
    with pytest.raises(AccountRefused, match="There is no user nobody"):
        await change_role(installation.work_context, "nobody", access, actor=BY)


async def test_a_reset_ends_what_was_known(sandbox, operator):
    answer = await operator.ask(
        "/people/invite", form={"name": "otis", "role": "support", "vendor": "ACME"}
    )
    otis = await open_address(operator, answer)
    await otis.ask("/me/credentials", form=chosen(await otis.text("/me")))
    answer = await operator.confirm("/people/reset", form={"name": "otis"})
    assert (await otis.ask("/me")).status_code == 303
    again = await open_address(operator, answer)
    assert "Choose a password" in await again.text("/me")
    answer = await operator.confirm("/people/state", form={"name": "otis", "to": "disabled"})
    assert answer.headers["location"] == "/console/people?done=state"
    assert (await again.ask("/me")).status_code == 303
    page = await operator.text("/people")
    assert "all sites of Acme" in page
    assert "Disabled" in page


@pytest.mark.parametrize(
    ("form", "status", "sentence"),
    [
        ({"name": "a", "role": "king"}, 400, "Choose a role."),
        ({"name": "a", "role": "support"}, 400, "Choose the vendor"),
        ({"name": "a", "role": "viewer"}, 400, "Choose one or more sites"),
        ({"name": "<script>", "role": "operator"}, 409, "User name must be"),
    ],
)
async def test_an_invitation_that_cannot_be_is_refused(operator, form, status, sentence):
    answer = await operator.ask("/people/invite", form=form)
    assert (answer.status_code, sentence in answer.body.decode()) == (status, True)
    assert "<script>" not in answer.body.decode()


async def test_operators_do_not_disable_themselves_or_nobody(operator):
    page = await operator.text("/people")
    name = re.search(r">(operator-0-\d+)<", page)[1]
    for form in ({"name": name, "to": "disabled"}, {"name": "nobody", "to": "disabled"}):
        assert (await operator.confirm("/people/state", form=form)).status_code == 409
    assert (await operator.confirm("/people/reset", form={"name": "nobody"})).status_code == 409


def test_a_password_that_is_not_chosen_yet_matches_nothing():
    assert not verify_user_password(UNSET_PREFIX, "")
    assert not verify_user_password("", "")


def test_a_qr_code_is_one_path_with_a_light_border():
    path, width = qr_path("otpauth://totp/Clearlane:nora?secret=ABC")
    assert path.startswith(f"M{QUIET_MODULES} {QUIET_MODULES}h1v1h-1z")
    assert width > 2 * QUIET_MODULES
