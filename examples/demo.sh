#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints what differs between two runs of most programs, one `what<TAB>value` a line.
#
# HOUR is how long it sleeps in between; an hour unless told otherwise.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
show() {
	printf '%s\t%s\n' "$1" "$2"
}

show 'clock' "$(date -u +%T.%N)"
show 'uuid' "$(cat /proc/sys/kernel/random/uuid)"
show 'random bytes' "$(od -An -N8 -tx1 /dev/urandom | tr -d ' ')"
show 'process id' "$$"
show 'scratch directory' "$dir"
# Ten files made in a random order, listed as the file system has them.
(cd "$dir" && touch $(seq 0 9 | shuf))
show 'directory' "$(ls -U "$dir" | tr '\n' ' ')"
sleep "${HOUR-3600}"
show "clock, ${HOUR-3600} s on" "$(date -u +%T.%N)"
show 'file time' "$(cd "$dir" && touch new && stat -c %y new | cut -c 12-29)"
