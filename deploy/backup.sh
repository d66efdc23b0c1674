#!/bin/sh
# Back up into a new folder below $1, and remove old ones: 25 hours and the midnights of a month stay.
# Folders with names of another form, such as before-1.1.0, are never removed.
# With $2, do it again after so many seconds, for ever.
set -u
own='[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-[0-9][0-9][0-9][0-9]' # a name as `date +%F-%H%M` gives it
once() {
    python -m core --quiet backup "$1/$(date +%F-%H%M)" &&
        find "$1" -mindepth 1 -maxdepth 1 -type d -name "$own" \( -mmin +1500 -not -name '*-00??' -o -mtime +31 \) -exec rm -r {} +
}
[ "${2:-}" ] || { once "$1"; exit; }
while :; do
    once "$1" || echo "The backup failed; see the lines above." >&2
    sleep "$2"
done
