#!/usr/bin/env bash
# Prepares the end-to-end tests: Playwright by its lock file, and a Chromium where the system has none.
. "$(dirname "$0")/../scripts/lib.sh"

require_node

# The browser is the system's; Playwright's own is fetched below, and only where there is no other way.
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 install_node_packages end2end

has_browser() { (cd end2end && node has-browser.mjs); }

if has_browser; then
    say "a browser is there"
    exit 0
fi
if have apt-get; then
    say "installing Chromium from the system's packages"
    as_root=
    if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi
    $as_root apt-get -qq update || true
    for package in chromium-headless-shell chromium; do
        if $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "$package"; then break; fi
    done
    has_browser || warn "the system's packages gave no Chromium"
fi
if ! has_browser; then
    say "fetching Playwright's own Chromium"
    (cd end2end && npx playwright install chromium) || true
fi
has_browser || fail "there is no browser: install Chromium (on Debian: apt-get install chromium)"
