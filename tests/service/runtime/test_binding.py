import pytest

from lineage.policy import parse
from service.errors import RejectedInputError
from service.runtime.binding import require_guarded
from service.runtime.settings import Settings
from tests.service.commandline import lineward

_ACCESS = "access: {tokens: [{name: a, sha256: '%s', roles: [admin]}]}" % ("0" * 64)
_ALL = "0.0.0.0"  # noqa: S104 - what is rejected
_OTHERS = (_ALL, "::", "192.0.2.7", "lineward.example")


@pytest.fixture
def token(tmp_path):
    file = tmp_path / "token"
    file.write_text("secret")
    return file


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_token(host):
    require_guarded(Settings(host=host), None)


@pytest.mark.parametrize("host", _OTHERS)
def test_other_machines_need_tokens(host):
    """Reject an open address, unless both ports have tokens."""
    with pytest.raises(RejectedInputError, match=r"`access` section .* LINEWARD_COLLECTOR_TOKEN"):
        require_guarded(Settings(host=host), parse("owners: []"))


def test_the_missing_token_is_named(token):
    with pytest.raises(RejectedInputError, match="set LINEWARD_COLLECTOR_TOKEN_FILE "):
        require_guarded(Settings(host="::"), parse(_ACCESS))
    with pytest.raises(RejectedInputError, match="set an `access` section in the policy "):
        require_guarded(Settings(host="::", collector_token_file=token), None)


@pytest.mark.parametrize("host", _OTHERS)
def test_tokens_or_an_explicit_choice_open_the_address(host, token):
    require_guarded(Settings(host=host, collector_token_file=token), parse(_ACCESS))
    require_guarded(Settings(host=host, insecure=True), None)


@pytest.mark.parametrize(("command", "code"), [("up", 6), ("collector", 2), ("service", 2)])
def test_no_command_listens_to_other_machines_without_tokens(tmp_path, command, code):
    data = {"LINEWARD_DATA_DIR": str(tmp_path / "data"), "LINEWARD_HOST": _ALL}
    ports = {f"LINEWARD_{name}_PORT": "0" for name in ("COLLECTOR", "SERVICE", "METRICS")}

    done = lineward(command, **data, **ports)

    assert done.returncode == code
    text = done.stdout + done.stderr
    assert "from other machines without a token" in text
    assert "LINEWARD_INSECURE=true" in text
    assert not (tmp_path / "data").exists()
