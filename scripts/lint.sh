#!/usr/bin/env bash
# Checks formatting, clippy and rustdoc, every warning an error, for the server and for the browser.
. "$(dirname "$0")/lib.sh"

say "rustfmt"
cargo fmt --all --check

say "clippy"
cargo clippy --quiet "${host_crates[@]}" --all-targets -- -D warnings

if has_wasm_target; then
    say "clippy for the browser"
    cargo clippy --quiet --package polymnemo-frontend --package polymnemo-app --features polymnemo-app/hydrate \
        --target wasm32-unknown-unknown --profile wasm-release -- -D warnings
fi

say "rustdoc"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --document-private-items "${host_crates[@]}"
