# shellcheck shell=bash
# For the tests that use the server as a program: source it after lib.sh.

# Prints the path of a Node that is new enough for the MCP tools: the one on the PATH, else the one among the packages
# of end2end/conformance, which have to be installed.
node_24() {
    local major
    major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
    if [ "${major:-0}" -ge 24 ]; then
        command -v node
        return
    fi
    local packaged
    for packaged in "$root"/end2end/conformance/node_modules/node-linux-*/bin/node; do
        if [ -x "$packaged" ]; then
            printf '%s\n' "$packaged"
            return
        fi
    done
    fail "Node 24 is missing, and there is no package of it for this machine: install it from nodejs.org"
}

random_key() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# A port that nothing listens on at the moment.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Waits until the server on a port is ready, its model included; fails when its process ends or two minutes pass.
wait_for_server() {
    local port=$1 pid=$2 deadline=$((SECONDS + 120))
    until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/readyz"; do
        kill -0 "$pid" 2>/dev/null || fail "the server ended before it was ready"
        [ "$SECONDS" -lt "$deadline" ] || fail "the server was not ready after two minutes"
        sleep 0.3
    done
}
