#!/usr/bin/env bash
# Installs what only tests need: pgbouncer, by apt where that is possible without asking. The tests that need it say so
# and pass where it is missing.
. "$(dirname "$0")/lib.sh"

if have pgbouncer || [ -x /usr/sbin/pgbouncer ]; then
    say "pgbouncer is there"
elif have apt-get && [ "$(id -u)" = 0 ]; then
    say "installing pgbouncer"
    # Its package would start a service that nobody asked for.
    apt-get -qq update
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends pgbouncer >/dev/null
else
    warn "pgbouncer is missing, so nothing is tested behind it; on Debian: apt-get install pgbouncer"
fi
