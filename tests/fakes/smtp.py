"""Mail server that keeps what it accepts: aiosmtpd on a port of this machine."""

from email import message_from_bytes, policy
from typing import TYPE_CHECKING

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

if TYPE_CHECKING:
    from email.message import EmailMessage


class _AnyPort(Controller):
    def _trigger_server(self) -> None:
        """Take the port that the system chose: aiosmtpd connects to it once."""
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


class FakeMailServer:
    """SMTP server without TLS.

    Attributes:
        mails: accepted ones, in order.
        login: user and password that it requires; None: none.
        rejection: answer to each mail while it is set, as "550 no such mailbox".
    """

    def __init__(self, login: tuple[str, str] | None = None) -> None:
        self.mails: list[EmailMessage] = []
        self.login = login
        self.rejection: str | None = None
        required = {"authenticator": self._check, "auth_required": True} if login else {}
        self._controller = _AnyPort(
            self, hostname="127.0.0.1", port=0, auth_require_tls=False, **required
        )

    @property
    def address(self) -> str:
        """Return host and port."""
        return f"127.0.0.1:{self._controller.port}"

    def start(self) -> None:
        """Listen on a free port."""
        self._controller.start()

    def stop(self) -> None:
        """Close the port."""
        self._controller.stop()

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        """Keep the mail, or reject it."""
        if self.rejection is not None:
            return self.rejection
        mail = message_from_bytes(envelope.content, policy=policy.default)
        self.mails.append(mail)
        return "250 OK"

    def _check(self, *given: object) -> AuthResult:
        data = given[-1]
        assert isinstance(data, LoginPassword)
        found = (data.login.decode(), data.password.decode())
        return AuthResult(success=found == self.login, handled=True)
