#!/usr/bin/env bash
# Checks for the programs that building and testing need and installs those that are missing:
#   Rust (by rustup), a C compiler, Python 3 with pip, Node.js with npm, cargo-nextest.
# On Debian and Ubuntu system packages are installed by apt, as root or by sudo; elsewhere the line to run is printed.
. "$(dirname "$0")/lib.sh"

system_packages=()
if ! have cc || ! have make; then system_packages+=(build-essential); fi
have curl || system_packages+=(curl ca-certificates)
have git || system_packages+=(git)
have pkg-config || system_packages+=(pkg-config)
have python3 || system_packages+=(python3)
python3 -m pip --version >/dev/null 2>&1 || have pip3 || system_packages+=(python3-pip)
python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || system_packages+=(python3-venv)
have node || system_packages+=(nodejs)
have npm || system_packages+=(npm)

if [ ${#system_packages[@]} -gt 0 ]; then
    if [ "$(uname)" = Darwin ]; then
        have cc || fail "the C compiler is missing; run: xcode-select --install"
        fail "missing: ${system_packages[*]}; run: brew install python node pkgconf git curl"
    fi
    if ! have apt-get; then
        fail "missing (by their Debian names): ${system_packages[*]}; install them and run this again"
    fi
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        # Only a person at a terminal can type sudo's password.
        if have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            as_root=(sudo)
        else
            fail "missing; run as root: apt-get update && apt-get install -y --no-install-recommends ${system_packages[*]}"
        fi
    fi
    say "installing ${system_packages[*]}"
    ${as_root[@]+"${as_root[@]}"} apt-get -qq update
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq install -y --no-install-recommends "${system_packages[@]}" >/dev/null
fi

require_node

if ! have cargo; then
    # rust-toolchain.toml names the release, so none is installed here by default.
    say "installing Rust by rustup"
    installer=$(mktemp)
    trap 'rm -f "$installer"' EXIT
    curl --proto '=https' --tlsv1.2 --silent --show-error --fail --output "$installer" https://sh.rustup.rs
    sh "$installer" -y --profile minimal --default-toolchain none
fi
wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
found=$(rustc --version 2>/dev/null | awk '{ print $2 }') || true
if [ "$found" != "$wanted" ]; then
    if have rustup; then
        say "installing Rust $wanted"
        rustup toolchain install "$wanted" --profile minimal --component clippy --component rustfmt
    else
        fail "Rust $wanted is needed and rustup is missing (found ${found:-none}); see rustup.rs"
    fi
fi

if cargo nextest --version >/dev/null 2>&1; then
    say "cargo-nextest is there"
else
    bash scripts/setup-cargo-tool.sh nextest
fi

say "toolchain: $(rustc --version), $(python3 --version), node $(node --version)"
