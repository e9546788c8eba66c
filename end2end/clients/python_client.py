"""The official Python SDK, driven by JSON lines: see README.md."""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


def server():
    if command := os.environ.get("MCP_COMMAND"):
        program, *arguments = json.loads(command)
        return StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    headers = {"Authorization": f"Bearer {os.environ['MCP_KEY']}"}
    return streamable_http_client(os.environ["MCP_URL"], http_client=create_mcp_http_client(headers=headers))


async def answer(client, request):
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


async def main():
    async with Client(server(), mode=os.environ.get("MCP_MODE", "auto")) as client:
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            try:
                reply = {"answer": await answer(client, json.loads(line))}
            except MCPError as error:
                reply = {"error": {"code": error.error.code, "message": error.error.message}}
            print(json.dumps(reply), flush=True)


asyncio.run(main())
