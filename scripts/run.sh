#!/usr/bin/env bash
# Sets up what is missing, builds the server and the web app, and becomes the server. Arguments go to the server.
. "$(dirname "$0")/lib.sh"

bash scripts/setup.sh
bash scripts/build-web.sh release
say "building the server"
cargo build --release --package polymnemo

export LEPTOS_SITE_ROOT=${LEPTOS_SITE_ROOT:-$root/target/site}
exec target/release/polymnemo "$@"
