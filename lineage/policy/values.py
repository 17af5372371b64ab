"""Values that a field of the policy may hold."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

Text = Annotated[str, Meta(min_length=1)]
Minutes = Annotated[int, Meta(ge=0, le=10_080)]
Days = Annotated[int, Meta(ge=1, le=3_650)]
Instant = Annotated[datetime, Meta(tz=True)]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
