# shellcheck shell=bash
# Shared by the scripts of this folder: `. "$(dirname "$0")/lib.sh"`. Leaves the caller in the repository's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=$root/.tools
# Tools of this project alone come first; nothing is installed system-wide that can live here.
export PATH="$tools/bin:$HOME/.cargo/bin:$PATH"

say() { printf '==> %s\n' "$*"; }
warn() { printf '==> warning: %s\n' "$*" >&2; }
fail() { printf '==> error: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# A setting from the environment, else from .env, else the given default.
setting() {
    local name=$1 default=${2-} line
    if [ -n "${!name-}" ]; then printf '%s\n' "${!name}"; return; fi
    if [ -f .env ] && line=$(grep -E "^(export )?$name=" .env | tail -n 1) && [ -n "$line" ]; then
        line=${line#*=}
        line=${line#[\"\']}
        printf '%s\n' "${line%[\"\']}"
    else
        printf '%s\n' "$default"
    fi
}

# Where the server keeps its data, by the same rule as the server itself.
data_dir() {
    local directory
    directory=$(setting POLYMNEMO_DATA_DIR)
    if [ -n "$directory" ]; then :
    elif [ "$(id -u)" = 0 ]; then directory=/var/lib/polymnemo
    elif [ "$(uname)" = Darwin ]; then directory="$HOME/Library/Application Support/polymnemo"
    else directory=${XDG_DATA_HOME:-$HOME/.local/share}/polymnemo
    fi
    printf '%s\n' "$directory"
}

runtime_dir() { setting POLYMNEMO_RUNTIME_DIR "$(data_dir)/runtime"; }

# Runs a command with a time limit where the system has `timeout` (macOS has none).
limited() {
    local seconds=$1
    shift
    if have timeout; then timeout "$seconds" "$@"; else "$@"; fi
}

# Fails unless there is a Node.js that is new enough for everything here. (The conformance suite wants a newer one still
# and brings it along, see lib-clients.sh.)
require_node() {
    local oldest=20
    have node && have npm || fail "Node.js with npm is missing: run scripts/setup-toolchain.sh"
    [ "$(node -p 'parseInt(process.versions.node)')" -ge "$oldest" ] ||
        fail "Node.js $(node --version) is too old: $oldest or later is needed (see nodejs.org, or your system's newer packages)"
}

# Whether the toolchain can compile for the browser.
has_wasm_target() {
    ls "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib"/libstd-*.rlib >/dev/null 2>&1
}

# Installs a folder's Node packages as its lock file says, unless just these are installed already. npm verifies each
# package against the hash in the lock file and runs none of their install scripts.
install_node_packages() {
    local folder=$1 stamp
    stamp=$(cat "$folder/package-lock.json" "$folder/package.json" | cksum)
    if [ "$(cat "$folder/node_modules/.stamp" 2>/dev/null)" = "$stamp" ]; then
        say "the Node packages of $folder are there"
        return
    fi
    say "installing the Node packages of $folder"
    npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
    echo "$stamp" >"$folder/node_modules/.stamp"
}

# The crates that are compiled for the server. `app` is compiled with `ssr` for the server and with `hydrate` for the
# browser, never with both at once, so crates are named wherever the whole workspace would be.
# shellcheck disable=SC2034
host_crates=(
    --package polymnemo --package polymnemo-adapters --package polymnemo-app --features polymnemo-app/ssr
    --package polymnemo-imports --package polymnemo-mcp --package polymnemo-memory --package polymnemo-migrations --package polymnemo-store
    --package polymnemo-types
)
