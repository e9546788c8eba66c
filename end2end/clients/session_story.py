"""Sessions between apps: what one official client saves, another one loads, byte for byte."""

import json
import time

from clients import check


def conversation(messages):
    """A conversation with everything that clients have in their messages."""
    shapes = [
        lambda number: {"role": "user", "content": f"Question {number}: 记忆 \U0001f9e0‍\U0001f525 \"quotes\" \\ and\r\nlines\t"},
        lambda number: {"role": "assistant", "content": f"```rust\nfn answer() -> u32 {{ {number} }}\n```\n" + "so on and on " * 20},
        lambda number: {
            "role": "assistant",
            "content": [
                {"type": "text", "text": f"Let me look, {number}."},
                {"type": "tool_use", "id": f"toolu_{number}", "name": "search", "input": {"z": 1.5, "a": ["日本語", None, True]}},
            ],
            "at": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}Z",
        },
        lambda number: {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": [{"type": "text", "text": "ok\u2028"}]}],
        },
    ]
    return [shapes[number % len(shapes)](number) for number in range(messages)]


def load(client, session_id):
    """All of a session: its messages, put together of their parts."""
    messages, page = [], 1
    while page:
        # Pages as long as may be asked for; those of the usual length are within the bound of all answers.
        arguments = {"session_id": session_id, "page": page, "page_size": 50}
        read = client.get("call", name="load_session", arguments=arguments)["structured"]
        for part in read["messages"]:
            if part.get("part", 1) == 1:
                messages.append(part)
            else:
                messages[-1]["content"] += part["content"]
        page = read.get("next_page")
    return read, messages


def saves_and_another_loads(writer, reader, session_id, messages):
    given = conversation(messages)
    started = time.monotonic()
    saved = writer.call("save_session", session_id=session_id, messages=given)
    took = time.monotonic() - started
    ok = isinstance(saved, dict) and (saved["created"], saved["appended"]) == (True, messages)
    check(f"{writer.name} saves {messages} messages ({took:.1f} s)", ok, saved)
    again = writer.call("save_session", session_id=session_id, messages=given[-10:])
    check(f"{writer.name} saves the last ones again: nothing is stored twice", again["appended"] == 0, again)
    _, read = load(reader, session_id)
    same = len(read) == len(given) and all(
        one["role"] == other["role"]
        and (json.loads(one["content"]) if one["format"] == "blocks" else one["content"]) == other["content"]
        for one, other in zip(read, given)
    )
    check(f"{reader.name} loads all {messages} of them, byte for byte", same, len(read))


def saves_a_text_and_another_loads(writer, reader, session_id, megabytes):
    turn = "User: Was heißt das? 记忆 \U0001f9e0\r\n\r\nAssistant: ```\nUser: root\n```\n" + "words, " * 100 + "\n"
    text = turn * (megabytes * 1_000_000 // len(turn.encode()))
    started = time.monotonic()
    saved = writer.call("save_session", session_id=session_id, content=text)
    took = time.monotonic() - started
    check(f"{writer.name} saves a transcript of {megabytes} MB ({took:.1f} s)", isinstance(saved, dict) and saved["created"], saved)
    started = time.monotonic()
    reader.call("load_session", session_id=session_id)
    check(f"{reader.name} opens it ({(time.monotonic() - started) * 1000:.0f} ms)", True)
    _, read = load(reader, session_id)
    check(f"{reader.name} loads all of it, byte for byte", "".join(piece["content"] for piece in read) == text, len(read))
