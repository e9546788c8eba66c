#!/usr/bin/env bash
# Takes pictures of every page of the web app into end2end/screenshots/: light and dark, wide and narrow, English and Chinese.
# An argument takes only the pages whose names begin with it.
. "$(dirname "$0")/lib.sh"

if have fc-list && [ -z "$(fc-list :lang=zh)" ]; then
    warn "no font here has Chinese characters; on Debian, install fonts-noto-cjk"
fi
bash end2end/set-up.sh
bash scripts/build-web.sh release
bash scripts/build-server.sh
bash end2end/with-server.sh npm --prefix end2end run --silent screenshots -- "$@"
say "the pictures are in end2end/screenshots"
