#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The static supervisor of aarch64 cross-builds, with warnings as errors.
set -eu
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "skipped: aarch64-linux-gnu-gcc is not installed"; exit 77; }
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
meson setup "$build/a" "$SANDGLASS_SOURCE" --werror --cross-file "$SANDGLASS_SOURCE/cross/aarch64.ini" \
	-Dsupervisor_only=true >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
ninja --quiet -C "$build/a"
if [ ! -e "$build/a/sandglass-supervise" ]; then
	echo "skipped: there is no supervisor to build"
	exit 77
fi
file=$(aarch64-linux-gnu-readelf -hld "$build/a/sandglass-supervise")
case $file in *AArch64*) ;; *) echo "not an aarch64 program"; exit 1 ;; esac
case $file in *INTERP* | *'(NEEDED)'*) echo "the supervisor is not static"; exit 1 ;; esac
# Installed on another machine, it is told for what it is.
[ "$(uname -m)" != aarch64 ] && [ -x "${SANDGLASS:-}" ] || exit 0
status=0
SANDGLASS_SUPERVISE=$build/a/sandglass-supervise "$SANDGLASS" doctor >"$build/doctor" || status=$?
if [ "$status" -ne 2 ] || ! grep -q '^missing  *supervisor  *it is for aarch64, this machine is ' "$build/doctor"; then
	echo "the doctor does not see that the supervisor is for aarch64: status $status"
	cat "$build/doctor"
	exit 1
fi
