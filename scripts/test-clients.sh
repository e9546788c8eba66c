#!/usr/bin/env bash
# Tests the server with the official MCP clients, the MCP Inspector and the official conformance suite. Starts the real
# server (END2END_BINARY, else target/debug/polymnemo, which it builds) on a free port with an empty data directory, and
# cleans up after itself. Ends with `N passed, N failed`.
. "$(dirname "$0")/lib.sh"
. scripts/lib-clients.sh

have python3 || fail "python3 is missing: run scripts/setup-toolchain.sh"
have curl || fail "curl is missing: run scripts/setup-toolchain.sh"
clients=end2end/clients
install_node_packages "$clients"
install_node_packages end2end/conformance
bash end2end/set-up.sh
node=$(node_24)

# The Python clients, in an environment of its own that is made anew when its requirements change.
environment=$tools/clients-python
stamp=$(cksum <"$clients/requirements.txt")
if [ "$(cat "$environment/.stamp" 2>/dev/null)" != "$stamp" ]; then
    say "installing the Python SDK and fastmcp"
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: \
        --requirement "$clients/requirements.txt"
    echo "$stamp" >"$environment/.stamp"
fi

bash scripts/build-server.sh
END2END_BINARY=$(realpath "${END2END_BINARY:-target/debug/polymnemo}")
export END2END_BINARY
server=$END2END_BINARY

work=$(mktemp -d)
# The embedded database runs as another user where this runs as root.
chmod 755 "$work"
server_pid=
stop() {
    if [ -n "$server_pid" ]; then kill "$server_pid" 2>/dev/null || true; fi
    wait
    rm -rf "$work"
}
trap stop EXIT

POLYMNEMO_RUNTIME_DIR=$(runtime_dir)
POLYMNEMO_DATA_DIR=$work/data
POLYMNEMO_PORT=$(free_port)
POLYMNEMO_LOG=warn
key=$(random_key)
export POLYMNEMO_RUNTIME_DIR POLYMNEMO_DATA_DIR POLYMNEMO_PORT POLYMNEMO_LOG POLYMNEMO_API_KEYS=$key:ada
say "starting the server"
"$server" serve &
server_pid=$!
wait_for_server "$POLYMNEMO_PORT" "$server_pid"

say "four official clients and the Inspector"
story=0
HOME=$work MCP_URL=http://127.0.0.1:$POLYMNEMO_PORT/mcp MCP_KEY=$key NODE=$node STDIO_COMMAND="[\"$server\", \"stdio\"]" \
    CLIENTS_PYTHON=$environment/bin/python python3 -B "$clients/story.py" | tee "$work/story.txt" || story=1
kill "$server_pid"
wait "$server_pid" || { say "the server did not end well"; story=1; }
server_pid=
unset POLYMNEMO_DATA_DIR POLYMNEMO_PORT POLYMNEMO_API_KEYS POLYMNEMO_LOG

say "the same clients and fastmcp, let in by a person"
oauth=0
NODE=$node CLIENTS_PYTHON=$environment/bin/python \
    bash end2end/with-server.sh python3 -B "$clients/oauth_story.py" |
    tee "$work/oauth.txt" || oauth=1

conformance=0
bash end2end/conformance/run.sh | tee "$work/conformance.txt" || conformance=1

# Each part ends with a line that says how many checks passed and how many failed.
totals=$(for part in story oauth conformance; do tail -n 1 "$work/$part.txt"; done |
    grep -Eo '[0-9]+ passed, [0-9]+ failed' |
    awk '{ passed += $1; failed += $3 } END { print passed + 0 " passed, " failed + 0 " failed" }')
say "clients and conformance: $totals"
[ "$story" = 0 ] && [ "$oauth" = 0 ] && [ "$conformance" = 0 ]
