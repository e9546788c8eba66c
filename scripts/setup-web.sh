#!/usr/bin/env bash
# Prepares what the browser's half of the web app is built with: the WebAssembly target, wasm-bindgen, wasm-opt and
# lightningcss. All of it is pinned by lock files with hashes. Without the WebAssembly target the app is served without
# hydration, which is fully usable.
. "$(dirname "$0")/lib.sh"

require_node

bash scripts/setup-wasm-target.sh || warn "the web app will be served without hydration"

web_tools=scripts/web-tools
bindgen=$tools/bin/polymnemo-web-tools
stamp=$(cat "$web_tools/Cargo.lock" "$web_tools/Cargo.toml" "$web_tools"/src/*.rs | cksum)
if [ -x "$bindgen" ] && [ "$(cat "$bindgen.stamp" 2>/dev/null)" = "$stamp" ]; then
    say "wasm-bindgen is there"
else
    say "building wasm-bindgen (about two minutes of processor time)"
    mkdir -p "$tools/bin"
    cargo build --quiet --release --locked --manifest-path "$web_tools/Cargo.toml" --target-dir "$tools/build/web-tools"
    cp "$tools/build/web-tools/release/polymnemo-web-tools" "$bindgen.new"
    mv "$bindgen.new" "$bindgen"
    echo "$stamp" >"$bindgen.stamp"
    rm -rf "$tools/build/web-tools"
    say "wasm-bindgen is built"
fi

install_node_packages "$web_tools"
