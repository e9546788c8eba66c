#!/usr/bin/env bash
# Tests the web app in real Chromium against the real server: scripts/test-end2end.sh [ARGUMENT OF `playwright test`…]
# Without arguments everything is tested, signing in with (a stand-in for) GitHub included.
. "$(dirname "$0")/lib.sh"

bash end2end/set-up.sh
bash scripts/build-web.sh release
bash scripts/build-server.sh
bash end2end/with-server.sh npm --prefix end2end run --silent test -- "$@"
if [ $# -gt 0 ]; then exit; fi

END2END_GITHUB=$root/target/debug/examples/github bash end2end/with-server.sh npm --prefix end2end run --silent test
