"""How litellm is loaded: only for a call, without the network, without a `.env`, without callbacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.llm.server import ChatServer

import toolgrade

CODE = """
import asyncio, os, sys
import toolgrade
from toolgrade.llm import open_model
from toolgrade.llm.limits import Limits
from toolgrade.llm.port import ChatMessage, ModelRequest

model = open_model(Limits())
print("litellm" in sys.modules)

async def main():
    try:
        messages = (ChatMessage(role="user", content="?"),)
        return await model.complete(ModelRequest(model="openai/x", api_base=sys.argv[1], messages=messages))
    finally:
        await model.aclose()

print(asyncio.run(main()).attempts)
import litellm
print(litellm.callbacks, litellm.success_callback, litellm.failure_callback, litellm.cache)
print(os.environ.get("FROM_DOTENV"))
"""


def test_litellm_is_loaded_by_the_first_call_and_changes_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOTENV=1\n")
    with ChatServer() as server:
        command = [sys.executable, "-W", "always::ResourceWarning", "-c", CODE, server.url]
        env = os.environ | {"PYTHONPATH": str(Path(toolgrade.__file__).parents[1])}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=120)
    assert done.stdout == "False\n1\n[] [] [] None\nNone\n"
    assert done.stderr == ""
