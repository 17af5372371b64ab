"""Routes of the listener's jar and its checksum: for drivers in a cluster, which have no token.

Every client of the port may fetch these files, which are public software, and nothing else.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from litestar import MediaType, Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.response import Stream

from service.api.access.gate import OPEN
from service.ingest.spark.listener_jar import LISTENER_PATH, Jar, find_jar

_CHUNK_BYTES: Final = 262_144
_NOT_MODIFIED: Final = 304
_CHECKSUM: Final = ".sha256"
# Its own threads: many drivers that start at once hold up no other answer.
_READING: Final = ThreadPoolExecutor(2, thread_name_prefix="listener")
_AnyRequest = Request[Any, Any, Any]


@get(f"{LISTENER_PATH}/{{name:str}}", access=OPEN, include_in_schema=False)
async def get_listener(request: _AnyRequest, state: State, name: FromPath[str]) -> Response[Any]:
    """Return a jar, or for NAME.sha256 its checksum as `sha256sum --check` reads it."""
    loop = asyncio.get_running_loop()
    wanted = name.removesuffix(_CHECKSUM)
    jar = await loop.run_in_executor(_READING, find_jar, state.settings.listener_dir, wanted)
    if name != wanted:
        return Response(f"{jar.sha256}  {wanted}\n", media_type=MediaType.TEXT)
    headers = {"ETag": f'"{jar.sha256}"', "Cache-Control": "public, no-cache"}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(None, status_code=_NOT_MODIFIED, headers=headers)
    headers["Content-Length"] = str(jar.size)
    return Stream(_read(jar), media_type="application/java-archive", headers=headers)


async def _read(jar: Jar) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    file = await loop.run_in_executor(_READING, jar.path.open, "rb")
    try:
        while chunk := await loop.run_in_executor(_READING, file.read, _CHUNK_BYTES):
            yield chunk
    finally:
        file.close()
