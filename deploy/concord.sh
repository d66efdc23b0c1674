#!/bin/sh
# /usr/local/bin/concord: a command of Concord as the service runs it, with its user, settings and folder. Only root may.
# APP: another version of the code.
app=${APP:-/srv/concord/app}
exec systemd-run --quiet --collect --wait --pipe --pty --uid=concord --working-directory="$app" \
    --property=EnvironmentFile=/etc/concord.env --setenv=CONCORD_HOME=/srv/concord/data \
    "$app/.venv/bin/python" -m core "$@"
