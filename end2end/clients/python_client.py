"""The official Python SDK, driven by JSON lines: see README.md."""

import asyncio
import json
import logging
import os
import sys
import time
from pathlib import Path

import mcp_types as types
from callback_page import CallbackPage
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken


class Store:
    """What an app keeps, in a file that several processes of it may share."""

    def __init__(self, path):
        self._path = Path(path) if path else None
        self._kept = {}

    def _read(self):
        if self._path and self._path.exists():
            self._kept = json.loads(self._path.read_text())
        return self._kept

    def _write(self, name, value):
        self._kept = {**self._read(), name: value.model_dump(mode="json", exclude_none=True)}
        if self._path:
            beside = self._path.with_suffix(f".{os.getpid()}")
            beside.write_text(json.dumps(self._kept))
            beside.replace(self._path)

    async def get_tokens(self):
        return OAuthToken(**self._read()["tokens"]) if "tokens" in self._read() else None

    async def set_tokens(self, tokens):
        self._write("tokens", tokens)

    async def get_client_info(self):
        return OAuthClientInformationFull(**self._read()["client"]) if "client" in self._read() else None

    async def set_client_info(self, client_info):
        self._write("client", client_info)


async def provider_for(app):
    page = CallbackPage()
    address = await page.open()

    async def lead(url):
        print(json.dumps({"open": url}), flush=True)

    async def come_back():
        answer = await page.answer()
        if "error" in answer:
            raise RuntimeError(f"the person was led back with {answer['error']}")
        return AuthorizationCodeResult(**answer)

    return OAuthClientProvider(
        server_url=os.environ["MCP_URL"],
        client_metadata=OAuthClientMetadata(client_name=app["name"], redirect_uris=[address]),
        storage=Store(app.get("store")),
        redirect_handler=lead,
        callback_handler=come_back,
        client_metadata_url=app.get("document"),
    )


def tokens_of(provider):
    """What an app holds, and under which id."""
    context = provider.context
    held = context.current_tokens
    return {"client": context.client_info.client_id, "access": held.access_token, "refresh": held.refresh_token, "scope": held.scope}


def run_out(provider):
    """Lets the access token be one whose time is over, here and at the server."""
    provider.context.current_tokens.access_token += "x"
    provider.context.token_expiry_time = time.time() - 1


def server(provider):
    if command := os.environ.get("MCP_COMMAND"):
        program, *arguments = json.loads(command)
        return StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    if provider:
        http_client = create_mcp_http_client(auth=provider)
    else:
        http_client = create_mcp_http_client(headers={"Authorization": f"Bearer {os.environ['MCP_KEY']}"})
    return streamable_http_client(os.environ["MCP_URL"], http_client=http_client)


async def answer(client, provider, request):
    match request["do"]:
        case "about":
            return {"revision": client.protocol_version, "name": client.server_info.name, "instructions": client.instructions}
        case "tools":
            return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in (await client.list_tools()).tools]
        case "call":
            result = await client.call_tool(request["name"], request["arguments"])
            text = "\n".join(part.text for part in result.content if part.type == "text")
            return {"text": text, "structured": result.structured_content, "failed": bool(result.is_error)}
        case "read":
            return (await client.read_resource(request["uri"])).contents[0].text
        case "complete":
            template = types.ResourceTemplateReference(type="ref/resource", uri="memory://{namespace}")
            completed = await client.complete(template, {"name": "namespace", "value": request["value"]})
            return completed.completion.values
        case "tokens":
            return tokens_of(provider)
        case "run_out":
            return run_out(provider)


def reply(**members):
    print(json.dumps(members), flush=True)


async def main():
    app = json.loads(os.environ.get("MCP_APP", "null"))
    provider = await provider_for(app) if app else None
    async with Client(server(provider), mode=os.environ.get("MCP_MODE", "auto")) as client:
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            try:
                reply(answer=await answer(client, provider, json.loads(line)))
            except MCPError as error:
                reply(error={"code": error.error.code, "message": error.error.message})


def innermost(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    # What goes wrong is in the reply.
    logging.disable()
    try:
        asyncio.run(main())
    except Exception as error:
        reply(error={"code": None, "message": repr(innermost(error))})
