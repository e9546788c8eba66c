"""Apps that connect by the URL alone: each official client registers or has a document, a person lets it in by a real
browser, and it goes on until the person ends its access, and when it is let in again.

Reads the server to use from the environment, as ../with-server.sh sets it (END2END_URL, END2END_SIGN_IN_LINK for the person,
and END2END_DOCUMENTS, where the server looks for the documents of clients), and the programs to use from NODE and
CLIENTS_PYTHON. Prints each check and, at the end, how many passed.
"""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from clients import HERE, Client, check, python_client, tell, typescript_client

BASE = os.environ["END2END_URL"]
RESOURCE = f"{BASE}/mcp"
READ_AND_WRITE = "memory:read memory:write"
# What Cursor registers, all at once.
CURSOR = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "http://localhost:8787/callback",
]


class Documents:
    """Serves the documents by which clients tell of themselves: for https://HOST/PATH the server asks here for /HOST/PATH."""

    def __init__(self, port):
        self.asked = []
        self._by_url = {}
        documents = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = f"https:/{self.path}"
                documents.asked.append(url)
                document = documents._by_url.get(url)
                self.send_response(200 if document else 404)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(document).encode())

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def publish(self, host, name):
        """The document of an app on people's machines, which has another port each time; gives its URL."""
        url = f"https://{host}/oauth/client.json"
        self._by_url[url] = {
            "client_id": url,
            "client_name": name,
            "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        return url


class App:
    """A client that opens pages in the person's browser, and what came of each."""

    def __init__(self, person, make, name, answer="allow", **more):
        self.person = person
        self.name = name
        self.answer = answer
        self.opened = []
        self.client = make(name, opens=self.open, MCP_URL=RESOURCE, MCP_APP=json.dumps({"name": name, **more}))

    def open(self, url):
        asked = parse(url)
        back = urlsplit(asked["redirect_uri"])
        if back.scheme == "http":
            wait_for_port(back.hostname, back.port)
        self.opened.append({**asked, **self.person.get("decide", url=url, answer=self.answer)})

    def recalls(self, word):
        """Whether it finds what it stored."""
        found = self.client.call("recall", query=f"What is the word of {self.name}?", limit=50)
        return isinstance(found, dict) and any(word in hit["passage"] for hit in found["hits"])

    def close(self):
        self.client.close()


def parse(url):
    return {name: value for name, [value] in parse_qs(urlsplit(url).query).items()}


def wait_for_port(host, port):
    """A person takes longer to decide than an app to open its page."""
    for _ in range(100):
        try:
            socket.create_connection((host, port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the app does not listen on {host}:{port}")


def is_let_in_and_stays(app, documents, document):
    """The whole way of one client."""
    name, client = app.name, app.client
    client.get("about")
    check(f"{name} is let in", len(app.opened) == 1, app.opened)
    [opened] = app.opened
    said = opened["page"]
    known_as = urlsplit(document).hostname if document else "unverified"
    ok = f"Let {name} in?" in said and known_as in said
    check(f"{name} is shown to the person with its name, as {known_as}", ok, said)
    ok = (opened["code_challenge_method"], opened["resource"]) == ("S256", RESOURCE)
    check(f"{name} asks with PKCE, and for this resource", ok, opened)
    first = client.get("tokens")
    check(f"{name} may read and write", first["scope"] == READ_AND_WRITE, first["scope"])
    if document:
        check(f"{name} is known by its document", first["client"] == opened["client_id"] == document, first["client"])
        check(f"{name} has its document read once", documents.asked.count(document) == 1, documents.asked)

    word = sha256(name.encode()).hexdigest()[:12]
    stored = client.call("remember", content=f"The word of {name} is {word}.", namespace="apps")
    check(f"{name} remembers", isinstance(stored, dict) and stored["status"] == "stored", stored)
    check(f"{name} recalls", app.recalls(word))

    client.get("run_out")
    check(f"{name} goes on when its access token has run out", app.recalls(word) and len(app.opened) == 1, app.opened)
    second = client.get("tokens")
    ok = second["access"] != first["access"] and second["refresh"] != first["refresh"]
    check(f"{name} has both tokens anew, and the same id", ok and second["client"] == first["client"])
    old, new = status_with(first["access"]), status_with(second["access"])
    check(f"{name} can end its requests with the old token", (old, new) == (200, 200), (old, new))

    app.person.get("end", app=name)
    ended = [status_with(tokens["access"]) for tokens in (first, second)]
    check(f"{name} is turned away once the person ended its access", ended == [401, 401], ended)
    check(f"{name} asks the person again, and goes on", app.recalls(word) and len(app.opened) == 2, app.opened)
    third = client.get("tokens")
    check(f"{name} is the same client as before", third["client"] == first["client"], third["client"])
    again = [status_with(tokens["access"]) for tokens in (first, second, third)]
    check(f"{name} does not come back by a token of before", again == [401, 401, 200], again)


def registers_anew(app):
    """As when the server lost its database. The Python SDK keeps its id for good, so its user has to begin anew."""
    name, before = app.name, app.client.get("tokens")
    app.client.get("lose_registration")
    found = app.client.call("list_memories", limit=1)
    after = app.client.get("tokens")
    ok = isinstance(found, dict) and after["client"] != before["client"] and len(app.opened) == 3
    check(f"{name} registers anew when nobody knows it any more", ok, after)


def is_told_no(app):
    error = app.client.ask("about").get("error", {})
    check(f"{app.name} is told that it may not", "denied" in error.get("message", "").lower(), error)
    check(f"{app.name} does not ask again", len(app.opened) == 1, app.opened)
    app.close()


def several_processes_refresh_at_once(person, folder):
    """As the processes of a coding assistant do, which share a file and no lock (claude-code#84440)."""
    name, store = "Python in two processes", f"{folder}/store.json"
    apps = [App(person, python_client, name, store=store)]
    apps[0].client.get("about")
    apps.append(App(person, python_client, name, store=store))
    apps[1].client.get("about")
    asked = [len(app.opened) for app in apps]
    check(f"{name}: the second one finds what the first one keeps", asked == [1, 0], asked)

    def lists(app):
        return isinstance(app.client.call("list_memories", limit=1), dict)

    for turn in range(1, 6):
        for app in apps:
            app.client.get("run_out")
        with ThreadPoolExecutor() as both:
            went = list(both.map(lists, apps))
        one, other = (app.client.get("tokens") for app in apps)
        ok = all(went) and one == other
        check(f"{name} refresh at once and hold the same, time {turn}", ok, (went, one == other))
    apps[0].client.get("run_out")
    check(f"{name}: one of them refreshes alone", lists(apps[0]))
    apps[1].client.get("run_out")
    check(f"{name}: the other one comes a little later", lists(apps[1]))
    one, other = (app.client.get("tokens") for app in apps)
    check(f"{name} hold the same still", one == other)
    asked = [len(app.opened) for app in apps]
    check(f"{name} asked the person once in all", asked == [1, 0], asked)
    for app in apps:
        app.close()


def registers_as_cursor_does(person):
    status, client = send("/register", {
        "client_name": "Cursor",
        "redirect_uris": CURSOR,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    })
    ok = status == 201 and client["redirect_uris"] == CURSOR and client["application_type"] == "web"
    check("Cursor registers its three addresses at once", ok, client)
    verifier = "a-verifier-of-forty-three-characters-or-more"
    asked = urlencode({
        "response_type": "code",
        "client_id": client["client_id"],
        "redirect_uri": CURSOR[0],
        "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("="),
        "code_challenge_method": "S256",
        "state": "the state",
        "resource": RESOURCE,
    })
    back = person.get("decide", url=f"{BASE}/authorize?{asked}")["back"]
    answer = parse(back)
    ok = back.startswith(f"{CURSOR[0]}?") and answer["state"] == "the state" and answer["iss"] == BASE
    check("the person is led back to Cursor by its own scheme", ok, back)
    status, tokens = send("/token", urlencode({
        "grant_type": "authorization_code",
        "client_id": client["client_id"],
        "code": answer["code"],
        "redirect_uri": CURSOR[0],
        "code_verifier": verifier,
    }))
    check("Cursor gets tokens for the code", status == 200 and status_with(tokens["access_token"]) == 200, tokens)

    # The same registration, by a client that then uses a port of its own.
    app = App(person, lambda name, **more: typescript_client(name, "v1", **more), "Cursor on this machine", redirect_uris=CURSOR, host="localhost")
    about = app.client.get("about")
    [opened] = app.opened
    ok = about["name"] == "polymnemo" and urlsplit(opened["redirect_uri"]).port != 8787
    check("Cursor comes back to another port of this machine", ok, opened["redirect_uri"])
    app.close()


def send(path, body):
    """Sends a form or, where the body is none yet, JSON; gives status and answer."""
    is_form = isinstance(body, str)
    kind = "application/x-www-form-urlencoded" if is_form else "application/json"
    data = body if is_form else json.dumps(body)
    request = urllib.request.Request(BASE + path, data.encode(), {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def status_with(token):
    """The status of a harmless call."""
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(RESOURCE, ping, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def kinds():
    """How each client is made, and on which host its document would be."""
    yield "Python", "python.example", python_client
    yield "TypeScript 1", "one.example", lambda name, **more: typescript_client(name, "v1", **more)
    yield "TypeScript 2", "two.example", lambda name, **more: typescript_client(name, "v2", **more)
    is_installed = [os.environ["CLIENTS_PYTHON"], "-c", "import importlib.util as i, sys; sys.exit(i.find_spec('fastmcp') is None)"]
    if subprocess.run(is_installed).returncode == 0:
        yield "fastmcp", "fastmcp.example", lambda name, **more: python_client(name, "fastmcp_client.py", **more)
    else:
        print("fastmcp is left out: it needs Python 3.11", flush=True)


def main():
    documents = Documents(urlsplit(os.environ["END2END_DOCUMENTS"]).port)
    person = Client("the person", [os.environ["NODE"], "person.mjs"])
    for kind, host, make in kinds():
        print(kind, flush=True)
        app = App(person, make, f"{kind} that registers")
        is_let_in_and_stays(app, documents, None)
        if not kind.startswith("Python"):
            registers_anew(app)
        app.close()
        name = f"{kind} with a document"
        document = documents.publish(host, name)
        app = App(person, make, name, document=document)
        is_let_in_and_stays(app, documents, document)
        app.close()
        is_told_no(App(person, make, f"{kind} that is not let in", answer="deny"))
    print("Several processes of one app", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        several_processes_refresh_at_once(person, folder)
    print("Cursor", flush=True)
    registers_as_cursor_does(person)
    person.close()


if __name__ == "__main__":
    tell(main)
