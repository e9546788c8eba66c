#!/usr/bin/env bash
# Runs the official MCP conformance suite against the server's own router with the suite's fixtures behind it
# (server/examples/conformance), for the newest revision and the newest one with a handshake. 2026-07-28 has to pass
# wholly; of 2025-11-25 exactly the scenarios of the baseline fail. The authorization server is tested in the real binary
# (END2END_BINARY, else target/debug/polymnemo) and has to pass wholly. The reports stay in target/conformance.
. "$(dirname "$0")/../../scripts/lib.sh"
. scripts/lib-clients.sh

suite=end2end/conformance
install_node_packages "$suite"
bash end2end/set-up.sh
node=$(node_24)
POLYMNEMO_RUNTIME_DIR=$(runtime_dir)
export POLYMNEMO_RUNTIME_DIR

bash scripts/build-server.sh

work=$(mktemp -d)
started=()
stop() {
    local pid
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    mkdir -p target/conformance
    cp "$work/server.log" target/conformance/server.log
    rm -rf "$work"
}
trap stop EXIT

key=$(random_key)
port=$(free_port)
chmod 755 "$work"
POLYMNEMO_PORT=$port POLYMNEMO_DATA_DIR=$work/data POLYMNEMO_API_KEYS=$key:suite \
    target/debug/examples/conformance 2>"$work/server.log" &
started+=($!)
wait_for_server "$port" $!
"$node" "$suite/proxy.mjs" "$port" "$key" >"$work/proxy-port" &
started+=($!)
until [ -s "$work/proxy-port" ]; do sleep 0.1; done
url=http://localhost:$(cat "$work/proxy-port")/mcp

passed=0 failed=0
# Shows what a report says, and adds it up with its verdict, which is about scenarios; an expected failure is none.
count() {
    local reports=$1 verdict=$2 checks
    sed -n '/=== SUMMARY ===/,$p' "$reports/report.txt"
    checks=$(sed -n 's/^Total: \([0-9]*\) passed.*/\1/p' "$reports/report.txt")
    passed=$((passed + ${checks:-0}))
    failed=$((failed + verdict))
}
for revision in 2026-07-28 2025-11-25; do
    say "conformance with $revision"
    reports=target/conformance/$revision
    rm -rf "$reports"
    mkdir -p "$reports"
    expected=()
    if [ -f "$suite/baseline-$revision.yml" ]; then
        expected=(--expected-failures "$suite/baseline-$revision.yml")
    fi
    verdict=0
    "$node" "$suite/node_modules/@modelcontextprotocol/conformance/dist/index.js" server \
        --url "$url" --requirements "$revision" -o "$reports" "${expected[@]}" >"$reports/report.txt" 2>&1 || verdict=1
    count "$reports" "$verdict"
done

say "conformance of the authorization server"
reports=target/conformance/authorization
rm -rf "$reports"
mkdir -p "$reports"
verdict=0
bash end2end/with-server.sh "$node" "$suite/authorization.mjs" "$(free_port)" "$reports" >"$reports/report.txt" 2>&1 ||
    verdict=1
grep -q '^Total: ' "$reports/report.txt" || cat "$reports/report.txt"
count "$reports" "$verdict"
say "conformance: $passed passed, $failed failed"
[ "$failed" = 0 ]
