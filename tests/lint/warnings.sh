#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gcc and clang both build everything with warnings as errors.
set -eu
command -v clang >/dev/null || { echo "skipped: clang is not installed"; exit 77; }
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
CC=clang meson setup "$build/clang" "$SANDGLASS_SOURCE" --werror >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
ninja --quiet -C "$build/clang"
CC=gcc meson setup "$build/gcc" "$SANDGLASS_SOURCE" --werror >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
ninja --quiet -C "$build/gcc"
