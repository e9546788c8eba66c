"""What the stories are told with: clients in processes of their own, and the count of what was checked."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).parent
# The greatest size of an answer in bytes, the result as JSON.
MOST_BYTES = 40_000
# How long a client may take for an answer, in seconds.
PATIENCE = 90


class Client:
    """A client in a process of its own; see README.md for the lines it speaks."""

    def __init__(self, name, command, opens=None, **environment):
        self.name = name
        # What is done when it wants a page opened in a browser.
        self.opens = opens
        self.process = subprocess.Popen(
            command, cwd=HERE, env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, do, **request):
        """The client's reply: `answer`, or `error` for a protocol error."""
        # A client that waits for ever would be waited for, for ever.
        patience = threading.Timer(PATIENCE, self.process.kill)
        patience.start()
        try:
            self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self.process.stdin.flush()
            while line := self.process.stdout.readline():
                reply = json.loads(line)
                if "open" not in reply:
                    return reply
                self.opens(reply["open"])
            raise RuntimeError(f"{self.name} ended with status {self.process.wait()}")
        finally:
            patience.cancel()

    def get(self, do, **request):
        reply = self.ask(do, **request)
        if "error" in reply:
            raise RuntimeError(f"{self.name}: {do} failed: {reply['error']}")
        return reply["answer"]

    def call(self, name, **arguments):
        """The structured answer of a tool; text, where the tool failed."""
        result = self.get("call", name=name, arguments=arguments)
        size = len(json.dumps(result, ensure_ascii=False).encode())
        check(f"{self.name}: the answer of {name} is within its bound", size <= MOST_BYTES, f"{size} bytes", quiet=True)
        return result["text"] if result["failed"] else result["structured"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


passed = failed = 0


def check(what, ok, detail="", quiet=False):
    """Counts a check. A quiet one is printed only when it fails."""
    global passed, failed
    if ok:
        passed += 1
        if not quiet:
            print(f"  pass  {what}", flush=True)
    else:
        failed += 1
        print(f"  FAIL  {what}: {detail}", flush=True)


def python_client(name, program="python_client.py", **more):
    return Client(name, [os.environ["CLIENTS_PYTHON"], "-B", program], **more)


def typescript_client(name, version, **more):
    return Client(name, [os.environ["NODE"], f"typescript_{version}.mjs"], **more)


def tell(story):
    """Tells a story to its end; ends the program with what came of it."""
    try:
        story()
    except (RuntimeError, subprocess.SubprocessError, OSError, LookupError, TypeError) as error:
        check("the story is told to its end", False, repr(error))
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)
