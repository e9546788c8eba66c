"""fastmcp's client, driven by JSON lines: see README.md. It opens the page to which people are led back by itself."""

import asyncio
import json
import logging
import os
import sys
import warnings
import webbrowser
from uuid import uuid4

from fastmcp import Client
from fastmcp.client.auth import OAuth
from mcp import MCPError
from python_client import innermost, reply, run_out, tokens_of


class Browser(webbrowser.BaseBrowser):
    """The browser of this machine, as Python's standard library knows it."""

    def open(self, url, new=0, autoraise=True):
        print(json.dumps({"open": url}), flush=True)
        return True


async def answer(client, provider, request):
    match request["do"]:
        case "about":
            return {"revision": client.protocol_version, "name": client.server_info.name, "instructions": client.instructions}
        case "tools":
            return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in await client.list_tools()]
        case "call":
            result = await client.call_tool_mcp(request["name"], request["arguments"])
            text = "\n".join(part.text for part in result.content if part.type == "text")
            return {"text": text, "structured": result.structured_content, "failed": bool(result.is_error)}
        case "tokens":
            return tokens_of(provider)
        case "run_out":
            return run_out(provider)
        case "lose_registration":
            run_out(provider)
            provider.context.client_info.client_id = str(uuid4())
            await provider.context.storage.set_client_info(provider.context.client_info)


async def main():
    app = json.loads(os.environ["MCP_APP"])
    provider = OAuth(client_name=app["name"], client_metadata_url=app.get("document"))
    async with Client(os.environ["MCP_URL"], auth=provider) as client:
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            try:
                reply(answer=await answer(client, provider, json.loads(line)))
            except MCPError as error:
                reply(error={"code": error.error.code, "message": error.error.message})


if __name__ == "__main__":
    logging.disable()
    # It warns that tokens are kept in memory only, which is what a story wants.
    warnings.simplefilter("ignore")
    webbrowser.register("story", None, Browser(), preferred=True)
    try:
        asyncio.run(main())
    except Exception as error:
        reply(error={"code": None, "message": repr(innermost(error))})
