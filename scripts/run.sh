#!/usr/bin/env bash
# Sets up what is missing, builds the server and the web app, and becomes the server. Arguments go to the server.
. "$(dirname "$0")/lib.sh"

bash scripts/setup.sh
bash scripts/build-web.sh release
say "building the server"
cargo build --release --package polymnemo

# Without arguments it ends with how to connect, a working key included, whatever standard output is.
if [ $# = 0 ]; then set -- serve --show-connection; fi
exec target/release/polymnemo "$@"
