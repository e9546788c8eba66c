#!/usr/bin/env bash
# Runs a command beside a server of its own: end2end/with-server.sh COMMAND [ARGUMENT…]
#
# The server is the real one (POLYMNEMO_BINARY, else target/debug/polymnemo), with an embedded database in a folder that
# is gone afterwards. The command finds its address in END2END_URL and a working key in END2END_KEY.
. "$(dirname "$0")/../scripts/lib.sh"

binary=${END2END_BINARY:-target/debug/polymnemo}
[ -x "$binary" ] || fail "there is no $binary: build it with \`cargo build --package polymnemo\`"

free_port() {
    node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

data=$(mktemp -d "${TMPDIR:-/tmp}/polymnemo-end2end.XXXXXX")
# Started by root, the database runs as someone else, who must get through to its folder.
chmod 755 "$data"
port=$(free_port)
END2END_URL=http://127.0.0.1:$port
END2END_KEY=end2end_$(node -p 'require("crypto").randomBytes(16).toString("hex")')
export END2END_URL END2END_KEY

server=
stop() {
    if [ -n "$server" ] && kill -TERM "$server" 2>/dev/null; then wait "$server" || true; fi
    rm -rf "$data"
}
trap stop EXIT

env -u POLYMNEMO_DATABASE_URL -u POLYMNEMO_PUBLIC_URL \
    POLYMNEMO_HOST=127.0.0.1 POLYMNEMO_PORT="$port" POLYMNEMO_DATA_DIR="$data/data" \
    POLYMNEMO_RUNTIME_DIR="$(runtime_dir)" POLYMNEMO_SITE_DIR="$root/target/site" \
    POLYMNEMO_API_KEYS="$END2END_KEY:end2end" "$binary" >"$data/server.log" 2>&1 &
server=$!

say "waiting for the server at $END2END_URL"
for _ in $(seq 1 240); do
    if curl --silent --fail --output /dev/null "$END2END_URL/readyz"; then
        "$@"
        exit
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.5
done
sed 's/^/    /' "$data/server.log" >&2
fail "the server did not get ready; above is what it said"
