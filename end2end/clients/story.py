"""One memory, several apps: what one official client remembers, another one recalls.

Reads the server to use from the environment (MCP_URL, MCP_KEY), the programs to use from NODE and CLIENTS_PYTHON, and
the command of the stdio server from STDIO_COMMAND (a JSON list). Prints each check and, at the end, how many passed.
"""

import json
import os
import subprocess
import time
from itertools import pairwise

from clients import HERE, check, python_client, tell, typescript_client
from facts import FACTS
from session_story import saves_a_text_and_another_loads, saves_and_another_loads

TOOLS = [
    "recall", "remember", "list_memories", "get_memory", "update", "forget",
    "save_session", "load_session", "list_sessions",
    "create_upload", "confirm_upload", "get_download_url", "ping",
]


def introduces_itself(client, revision):
    about = client.get("about")
    check(f"{client.name} speaks {revision}", about["revision"] == revision, about["revision"])
    check(f"{client.name} reads the instructions", 0 < len(about["instructions"].encode()) < 2_000)
    tools = client.get("tools")
    check(f"{client.name} lists the tools", [tool["name"] for tool in tools] == TOOLS, [tool["name"] for tool in tools])


def remembers_and_another_recalls(writer, reader, namespace):
    ids = []
    for number, fact in enumerate(FACTS, 1):
        stored = writer.call("remember", content=fact.content, namespace=namespace, source=writer.name)
        ok = isinstance(stored, dict) and stored["status"] == "stored"
        check(f"{writer.name} remembers fact {number}", ok, stored)
        ids.append(stored["id"])
    again = writer.call("remember", content=FACTS[0].content, namespace=namespace)
    check(f"{writer.name} repeats a fact: nothing is stored twice", (again["status"], again["id"]) == ("already_stored", ids[0]), again)
    is_embedded(reader, namespace)
    for id, fact in zip(ids, FACTS):
        for question in fact.questions:
            found = reader.call("recall", query=question.query, namespace=namespace, limit=3)
            best = found["hits"][0] if found["hits"] else None
            ok = best is not None and best["id"] == id and question.expected in best["passage"]
            check(f"{reader.name} asks: {question.query}", ok, json.dumps(found, ensure_ascii=False)[:600])
    return ids


def is_embedded(client, namespace):
    """Waits until all is found by meaning: a long text is found by keyword only for a while, on a busy machine."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = client.get("call", name="recall", arguments={"query": "anything", "namespace": namespace, "limit": 1})
        if not found["structured"].get("pending"):
            return
        time.sleep(0.2)


def uses_every_tool(client, namespace, ids):
    long = FACTS[-1].content
    read, offset = "", 0
    while offset is not None:
        part = client.call("get_memory", id=ids[-1], offset=offset)
        read, offset = read + part["content"], part.get("next_offset")
    check(f"{client.name} reads a long memory in parts", read == long, f"{len(read)} of {len(long)} characters")

    seen, cursor = [], {}
    while cursor is not None:
        page = client.call("list_memories", namespace=namespace, limit=2, **cursor)
        seen += [item["id"] for item in page["items"]]
        cursor = {"cursor": page["next_cursor"]} if "next_cursor" in page else None
    check(f"{client.name} lists all, page by page", seen == ids[::-1] and page["total"] == len(ids), seen)

    changed = client.call("update", id=ids[1], content="The Lisbon office is at Rua Augusta 7 now.", expected_revision=1)
    check(f"{client.name} updates a memory", changed["revision"] == 2 and changed["changed"], changed)
    conflict = client.call("update", id=ids[1], content="Something else", expected_revision=1)
    check(f"{client.name} is told of a conflict", isinstance(conflict, str) and "get_memory" in conflict, conflict)

    forgotten = client.call("forget", id=ids[0])
    check(f"{client.name} forgets a memory", forgotten["ids"] == [ids[0]], forgotten)
    gone = client.call("get_memory", id=ids[0])
    check(f"{client.name} can't read a forgotten memory", isinstance(gone, str) and "no memory" in gone, gone)

    page = client.get("read", uri=f"memory://{namespace}")
    check(f"{client.name} reads the resource of a namespace", "Rua Augusta 7" in page and ids[0] not in page, page[:300])
    names = client.get("complete", value=namespace[:-1])
    check(f"{client.name} completes a namespace", namespace in names, names)

    wrong = client.call("recall", query="x", colour="red")
    check(f"{client.name} is told of an unknown argument", isinstance(wrong, str) and "colour" in wrong and "query" in wrong, wrong)
    wrong = client.call("recall", query="x", limit=1_000)
    check(f"{client.name} is told of a wrong argument", isinstance(wrong, str) and "from 1 to 50" in wrong, wrong)
    error = client.ask("call", name="no_such_tool", arguments={}).get("error", {})
    check(f"{client.name}: an unknown tool is a protocol error", error.get("code") == -32602, error)
    pong = client.call("ping")
    check(f"{client.name} pings", pong["embedder_status"] == "ready", pong)


def inspector(*arguments):
    """The Inspector's output as JSON. Its state goes to a folder that the caller set as HOME."""
    program = HERE / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    header = f"Authorization: Bearer {os.environ['MCP_KEY']}"
    command = [os.environ["NODE"], program, "--cli", os.environ["MCP_URL"], "--transport", "http", "--header", header, "--format", "json"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"the Inspector ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return json.loads(done.stdout)


def inspects():
    # --strict fails where a schema is not portable between clients.
    tools = inspector("--method", "tools/list", "--strict")
    tools = tools.get("result", tools)["tools"]
    check("the Inspector lists the tools and finds their schemas portable", [tool["name"] for tool in tools] == TOOLS, tools)
    told = "The Inspector was here."
    for tool, argument, expected in [("remember", f"content={told}", "stored"), ("recall", "query=Who was here?", told), ("ping", None, "ready")]:
        given = ["--tool-arg", argument] if argument else []
        result = inspector("--method", "tools/call", "--tool-name", tool, *given)
        check(f"the Inspector calls {tool}", expected in json.dumps(result, ensure_ascii=False), str(result)[:600])


def main():
    python = python_client("Python")
    python_legacy = python_client("Python, older handshake", MCP_MODE="legacy")
    v1, v2 = typescript_client("TypeScript 1", "v1"), typescript_client("TypeScript 2", "v2")
    print("Over HTTP", flush=True)
    introduces_itself(python, "2026-07-28")
    introduces_itself(python_legacy, "2025-11-25")
    introduces_itself(v1, "2025-11-25")
    introduces_itself(v2, "2026-07-28")
    told = {}
    for number, (writer, reader) in enumerate(pairwise([python, v1, v2, python_legacy, python])):
        namespace = f"story-{number}"
        told[namespace] = (reader, remembers_and_another_recalls(writer, reader, namespace))

    print("Over stdio, beside the running server", flush=True)
    for client, revision in [
        (python_client("Python over stdio", MCP_COMMAND=os.environ["STDIO_COMMAND"]), "2026-07-28"),
        (typescript_client("TypeScript 1 over stdio", "v1", MCP_COMMAND=os.environ["STDIO_COMMAND"]), "2025-11-25"),
    ]:
        introduces_itself(client, revision)
        question = FACTS[2].questions[0]
        found = client.call("recall", query=question.query, namespace="story-0")
        ok = bool(found["hits"]) and question.expected in found["hits"][0]["passage"]
        check(f"{client.name} recalls what was stored over HTTP", ok, found)
        client.close()

    print("Every tool", flush=True)
    for namespace, (client, ids) in told.items():
        uses_every_tool(client, namespace, ids)
    print("Sessions", flush=True)
    saves_and_another_loads(python, v2, "story-messages", 20_000)
    saves_and_another_loads(v1, python_legacy, "story-more-messages", 200)
    saves_a_text_and_another_loads(python, v1, "story-text", 20)
    print("The Inspector", flush=True)
    inspects()
    for client in [python, python_legacy, v1, v2]:
        client.close()


if __name__ == "__main__":
    tell(main)
