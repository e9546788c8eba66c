#!/usr/bin/env bash
# Tests the web app in real Chromium against the real server: scripts/test-end2end.sh [ARGUMENT OF `playwright test`…]
# Without arguments everything is tested, signing in with (a stand-in for) GitHub included.
. "$(dirname "$0")/lib.sh"

bash end2end/set-up.sh
bash scripts/build-web.sh release
if [ -z "${END2END_BINARY-}" ]; then
    say "building the server"
    cargo build --package polymnemo
fi
bash end2end/with-server.sh npm --prefix end2end run --silent test -- "$@"
if [ $# -gt 0 ]; then exit; fi

say "building the stand-in for GitHub"
cargo build --package polymnemo --example github
END2END_GITHUB=$root/target/debug/examples/github bash end2end/with-server.sh npm --prefix end2end run --silent test
