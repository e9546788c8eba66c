#!/usr/bin/env bash
# Runs a command beside a server of its own: end2end/with-server.sh COMMAND [ARGUMENT…]
#
# With END2END_GITHUB, the path of the stand-in for GitHub (an example of the server's), people sign in with that.
# The server is the real one (END2END_BINARY, else target/debug/polymnemo), with an embedded database in a folder that
# is gone afterwards. The command finds its address in END2END_URL, a working key in END2END_KEY, and in
# END2END_SIGN_IN_LINK a program that prints a link which signs in. At END2END_DOCUMENTS it may hold the documents of apps,
# by host and path, which the server then reads there.
. "$(dirname "$0")/../scripts/lib.sh"
. scripts/lib-clients.sh

binary=${END2END_BINARY:-target/debug/polymnemo}
[ -x "$binary" ] || fail "there is no $binary: build it with scripts/build-server.sh"

work=$(mktemp -d)
# The embedded database runs as another user where this runs as root.
chmod 755 "$work"
server=
github=
ready=
stop() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    if [ -n "$github" ]; then kill "$github" 2>/dev/null || true; fi
    wait
    if [ -z "$ready" ]; then sed 's/^/    /' "$work/server.log" >&2; fi
    rm -rf "$work"
}
trap stop EXIT

port=$(free_port)
END2END_URL=http://127.0.0.1:$port
END2END_KEY=$(random_key)
END2END_SIGN_IN_LINK=$work/sign-in-link
END2END_DOCUMENTS=http://127.0.0.1:$(free_port)
export END2END_URL END2END_KEY END2END_SIGN_IN_LINK END2END_DOCUMENTS

server_with=(
    env -u POLYMNEMO_DATABASE_URL -u POLYMNEMO_PUBLIC_URL
    POLYMNEMO_HOST=127.0.0.1 POLYMNEMO_PORT="$port" POLYMNEMO_DATA_DIR="$work/data"
    POLYMNEMO_RUNTIME_DIR="$(runtime_dir)" POLYMNEMO_SITE_DIR="$root/target/site"
    POLYMNEMO_CLIENT_DOCUMENTS_URL="$END2END_DOCUMENTS"
    POLYMNEMO_API_KEYS="$END2END_KEY:ada" "$(realpath "$binary")"
)
if [ -n "${END2END_GITHUB-}" ]; then
    "$END2END_GITHUB" 0 octocat >"$work/github" &
    github=$!
    for _ in $(seq 100); do
        [ "$(grep -c = "$work/github")" = 3 ] && break
        sleep 0.1
    done
    mapfile -t settings <"$work/github"
    export "${settings[@]}"
fi
{
    echo '#!/usr/bin/env bash'
    printf 'exec'
    printf ' %q' "${server_with[@]}" sign-in-link
} >"$END2END_SIGN_IN_LINK"
chmod 700 "$END2END_SIGN_IN_LINK"

say "starting the server at $END2END_URL"
"${server_with[@]}" >"$work/server.log" 2>&1 &
server=$!
wait_for_server "$port" "$server"
ready=yes

"$@"
