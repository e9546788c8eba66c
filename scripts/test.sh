#!/usr/bin/env bash
# Sets up what is missing and runs every check and test, the quick ones first. The last lines are the test runner's
# summary. Everything runs against real parts: PostgreSQL, the embedding model, and Chromium where it is installed.
. "$(dirname "$0")/lib.sh"

# A whole run gains nothing from what makes the next edit quick, and would need four times the room on the disk for it.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

started=$SECONDS
step() { printf '\n'; say "[$(((SECONDS - started) / 60)) min] $*"; }

step "set-up"
bash scripts/setup.sh multilingual-e5-small,all-MiniLM-L6-v2,use-multilingual-v3
bash scripts/setup-test-tools.sh
if [ -n "${CI-}" ]; then
    cargo metadata --locked --format-version 1 >/dev/null || fail "Cargo.lock does not match Cargo.toml"
fi

step "the set-up's own tests"
(cd server/setup && PYTHONDONTWRITEBYTECODE=1 python3 -m unittest --quiet)

step "dependencies"
bash scripts/deny.sh licenses bans sources

step "lint"
bash scripts/lint.sh

step "web app"
bash scripts/build-web.sh release

POLYMNEMO_RUNTIME_DIR=$(runtime_dir)
export POLYMNEMO_RUNTIME_DIR LEPTOS_SITE_ROOT=$root/target/site

# Tests that use the server as a program: with the official SDKs, and in a browser.
for suite in clients end2end; do
    if [ -f "scripts/test-$suite.sh" ]; then
        step "$suite"
        bash "scripts/test-$suite.sh"
    fi
done

step "Rust tests"
cargo nextest run "${host_crates[@]}" --no-fail-fast
