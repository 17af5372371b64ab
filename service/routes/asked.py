"""A question of the API: by one who may see so much."""

from contextlib import AbstractContextManager
from typing import Any

from litestar import Request
from litestar.datastructures import State

from service.access.gate import sight_of
from service.access.sight import EVERYTHING
from service.asking import Question, question

AnyRequest = Request[Any, Any, State]


def asked_by(request: AnyRequest) -> AbstractContextManager[Question]:
    """The question of this request."""
    state = request.app.state
    return question(state.settings, state.clock, sight_of(request.scope) or EVERYTHING)
