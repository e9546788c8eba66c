#!/usr/bin/env bash
# Makes Rust's standard library for WebAssembly available to the toolchain in use, by the first way that works:
#   1. it is there already;
#   2. rustup fetches it;
#   3. on Debian it is built from the packaged sources of the very same Rust release (one to two minutes of processor
#      time), verified by Debian's signatures, and registered so that `rustup target remove` removes it again.
# Exits with 3 where none does: the web app then works without hydration.
. "$(dirname "$0")/lib.sh"

target=wasm32-unknown-unknown
sysroot=$(rustc --print sysroot)
rustlib=$sysroot/lib/rustlib

if has_wasm_target; then
    say "the standard library for $target is there"
    exit 0
fi

if have rustup && limited 120 rustup target add "$target" >/dev/null 2>&1; then
    say "rustup fetched the standard library for $target"
    exit 0
fi

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if ! have apt-get || ! have dpkg-deb || [ ! -f "$keyring" ]; then
    warn "no standard library for $target: rustup cannot fetch it and this is not Debian"
    exit 3
fi

release=$(rustc --version --verbose | sed -n 's/^release: //p')
commit=$(rustc --version --verbose | sed -n 's/^commit-hash: //p')
mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    grep -v security | head -n 1) || true  # one of the files is usually missing
[ -n "$mirror" ] || { warn "no Debian mirror is configured"; exit 3; }

work=$tools/wasm-target
mkdir -p "$work"

# An apt of its own, which knows one suite and nothing of the system's packages, so that the system stays as it is.
find_sources() {
    local suite=$1 version
    mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$work/apt/sources.list"
    cat >"$work/apt/apt.conf" <<CONF
Dir::State "$work/apt"; Dir::State::Lists "$work/apt/lists"; Dir::State::status "/dev/null";
Dir::Cache "$work/apt"; Dir::Cache::Archives "$work/apt/archives";
Dir::Etc::SourceList "$work/apt/sources.list"; Dir::Etc::SourceParts "/dev/null"; Dir::Etc::PreferencesParts "/dev/null";
Acquire::Languages "none"; Acquire::Retries "2";
CONF
    if [ "$(id -u)" = 0 ]; then echo 'APT::Sandbox::User "root";' >>"$work/apt/apt.conf"; fi
    export APT_CONFIG=$work/apt/apt.conf
    apt-get -qq update >/dev/null 2>&1 || return 1
    version=$(apt-cache madison rust-src |
        awk -F ' *[|] *' -v release="$release" 'index($2, release "+") == 1 || index($2, release "-") == 1 { print $2; exit }')
    [ -n "$version" ] || return 1
    say "fetching the sources of Rust $release from Debian's $suite"
    (cd "$work" && apt-get -qq download "rust-src=$version" >/dev/null) || return 1
}

if [ ! -d "$work/source" ]; then
    found=
    for suite in trixie-backports testing unstable; do
        if find_sources "$suite"; then found=yes; break; fi
    done
    unset APT_CONFIG
    if [ -z "$found" ]; then
        warn "no standard library for $target: rustup cannot fetch it and Debian has no sources of Rust $release"
        exit 3
    fi
    rm -rf "$work/unpacked"
    dpkg-deb --extract "$work"/rust-src_*.deb "$work/unpacked"
    mv "$work/unpacked" "$work/source"
fi
unset APT_CONFIG

library=$(echo "$work"/source/usr/src/rustc-*/library)
say "building the standard library for $target"
# As Rust's own build does it: crates of the standard library are marked as unstable unless they say otherwise, and
# paths in messages are those that the compiler knows.
(
    cd "$library"
    RUSTC_BOOTSTRAP=1 __CARGO_DEFAULT_LIB_METADATA=polymnemo \
        RUSTFLAGS="-Zforce-unstable-if-unmarked -Cembed-bitcode=yes --remap-path-prefix=$library=/rustc/$commit/library" \
        CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_OPT_LEVEL=3 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
        cargo build --quiet --release --manifest-path sysroot/Cargo.toml --target "$target" --target-dir "$work/build"
)

staged=$rustlib/.$target.new
rm -rf "$staged"
mkdir -p "$staged/lib"
cp "$work/build/$target/release/deps/"*.rlib "$staged/lib/"
rm -rf "${rustlib:?}/$target"
mv "$staged" "$rustlib/$target"
if [ -f "$rustlib/multirust-config.toml" ] && ! grep -q "$target" "$rustlib/multirust-config.toml"; then
    echo "dir:lib/rustlib/$target/lib" >"$rustlib/manifest-rust-std-$target"
    echo "rust-std-$target" >>"$rustlib/components"
    printf '\n[[components]]\npkg = "rust-std"\ntarget = "%s"\nis_extension = false\n' "$target" \
        >>"$rustlib/multirust-config.toml"
fi
rm -rf "$work"
say "the standard library for $target is built and installed in $rustlib"
