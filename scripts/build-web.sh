#!/usr/bin/env bash
# Builds the browser's half of the web app into target/site: scripts/build-web.sh [release|debug]
#
# `release` (the default) is shrunk and pre-compressed; `debug` is quick to build. Every file is there twice, under its
# plain name and with a hash of its content in the name; hash.txt lists the hashes where Leptos looks for them, beside
# the server's binary. With nothing changed this takes a second.
. "$(dirname "$0")/lib.sh"

mode=${1:-release}
case $mode in
release) profile=wasm-release folder=wasm-release ;;
debug) profile=dev folder=debug ;;
*) fail "usage: scripts/build-web.sh [release|debug]" ;;
esac

target=wasm32-unknown-unknown
site=target/site
wasm=target/$target/$folder/polymnemo_frontend.wasm

if has_wasm_target; then
    say "building the WebAssembly ($mode)"
    cargo build --quiet --package polymnemo-frontend --target "$target" --profile "$profile"
else
    warn "no WebAssembly target: building the style sheet alone, pages work without hydration"
    wasm=
fi

inputs() {
    echo "$mode"
    {
        if [ -n "$wasm" ]; then echo "$wasm"; fi
        echo scripts/build-web.sh
        find style app/assets scripts/web-tools -type f -not -path '*/node_modules/*' 2>/dev/null || true
    } | LC_ALL=C sort | while read -r file; do cksum "$file"; done
}

current=$(inputs)
if [ "$(cat "$site/.inputs" 2>/dev/null)" = "$current" ]; then
    say "the site is up to date"
else
    # In a folder of its own and moved into place at the end, so that a build can be interrupted and run twice at once.
    mkdir -p target
    work=$(mktemp -d target/site.XXXXXX)
    trap 'rm -rf "$work"' EXIT
    new=$work/new
    mkdir -p "$new/pkg"
    if [ -n "$wasm" ]; then
        "$tools/bin/polymnemo-web-tools" "$wasm" "$new/pkg" polymnemo
        if [ "$mode" = release ]; then
            say "shrinking the WebAssembly"
            # Control flow is found anew in between, which spares another hundredth of what has to be loaded.
            node scripts/web-tools/node_modules/binaryen/bin/wasm-opt -Oz --flatten --rereloop -Oz --converge -Oz \
                "$new/pkg/polymnemo_bg.wasm" --output "$new/pkg/polymnemo.wasm"
            rm "$new/pkg/polymnemo_bg.wasm"
        else
            mv "$new/pkg/polymnemo_bg.wasm" "$new/pkg/polymnemo.wasm"
        fi
    fi
    if [ -d app/assets ]; then cp -R app/assets/. "$new/"; fi
    node scripts/web-tools/pack.js "$mode" style/main.css "$new"
    printf '%s' "$current" >"$new/.inputs"
    if [ -d "$site" ]; then mv "$site" "$work/old"; fi
    mv "$new" "$site"
    say "the site is in $site"
fi

# Beside every binary that may serve it: the server's own and those of its tests.
for directory in target/debug target/release target/debug/deps target/release/deps; do
    mkdir -p "$directory"
    cmp -s "$site/hash.txt" "$directory/hash.txt" || cp "$site/hash.txt" "$directory/hash.txt"
done
