"""A real OpenAI-compatible server on loopback whose answers a test writes down.

    from tests.llm.server import ChatServer, abort, hold, say, status

    with ChatServer() as server:
        server.replies = [status(429, headers={"retry-after": "3"}), say('{"verdict": "pass"}')]
        ...  # model="openai/any", api_base=server.url

Replies are used in order, the last one for ever; a reply may also be a function of the request's body.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

Reply = Callable[[Request], Awaitable[Response]]
VERDICT = {"reason": "as it should be", "evidence": [], "verdict": "pass"}


def say(text: str | None, **changes: Any) -> Reply:
    """Answer with this text; `changes` replace parts of the completion (`finish_reason`, `usage`, `message`)."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    message = {"role": "assistant", "content": text} | changes.pop("message", {})
    choice = {"index": 0, "finish_reason": changes.pop("finish_reason", "stop"), "message": message}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "served-model-1", "choices": [choice]}
    content = body | {"usage": usage} | changes

    async def reply(request: Request) -> Response:
        return JSONResponse({key: value for key, value in content.items() if value is not None})

    return reply


def status(code: int, message: str = "no", *, headers: dict[str, str] | None = None, error_code: str = "") -> Reply:
    """Answer with an error as OpenAI words it."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": error_code or None}}

    async def reply(request: Request) -> Response:
        return JSONResponse(body, status_code=code, headers=headers)

    return reply


def raw(content: bytes, media_type: str = "application/json") -> Reply:
    """Answer 200 with these bytes."""

    async def reply(request: Request) -> Response:
        return Response(content, media_type=media_type)

    return reply


async def hold(request: Request) -> Response:
    """Never answer while the server lives."""
    await request.app.state.server.released.wait()
    return Response(status_code=503)


async def abort(request: Request) -> Response:
    """Reset the connection."""
    request.app.state.server.transports[request.client.port].abort()
    return Response()


class ChatServer:
    """`requests` holds the bodies received, `headers` their headers, in order; `url` is the `api_base`."""

    def __init__(self, *replies: Reply) -> None:
        self.replies: list[Reply] = list(replies) or [say(json.dumps(VERDICT))]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.transports: dict[int, asyncio.Transport] = {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])
        app.state.server = self
        config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", http=self._protocol())
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run)

    def _protocol(self) -> type[H11Protocol]:
        transports = self.transports

        class Protocol(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:
                transports[transport.get_extra_info("peername")[1]] = transport
                super().connection_made(transport)

        return Protocol

    def _run(self) -> None:
        async def serve() -> None:
            self.released = asyncio.Event()
            self._loop = asyncio.get_running_loop()
            await self._server.serve(sockets=[self._socket])

        asyncio.run(serve())

    async def _answer(self, request: Request) -> Response:
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return await reply(request)

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self.released.set)
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()
