#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make install` puts a program there that works from there, `make uninstall` leaves nothing.
set -u
. "$SANDGLASS_SOURCE/tests/install/tap.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$SANDGLASS_SOURCE" || exit 1

# meson's own install, as the Makefile calls it, without touching this build's configuration.
install_into() {
	DESTDIR=$dir meson install -C "$SANDGLASS_BUILD" --no-rebuild --quiet >"$dir.log" 2>&1 ||
		{ cat "$dir.log"; return 1; }
}
left() {
	[ -z "$(find "$dir" ! -type d)" ]
}
helps() {
	"$prefix/bin/sandglass" help explain | grep -q '^Usage: sandglass explain'
}
runs() {
	[ "$(cd / && cd "$dir" && "$prefix/bin/sandglass" run -- echo inside 2>"$dir.log" </dev/null)" = inside ] ||
		{ sed 's/^/# /' "$dir.log"; return 1; }
}

check 'install' install_into
prefix=$(dirname "$(dirname "$(find "$dir" -name sandglass -path '*/bin/*')")")
check 'help comes from the tables' helps
check 'the supervisor is in libexec' test -x "$prefix/libexec/sandglass/sandglass-supervise"
check 'the manual is there' test -f "$prefix/share/man/man1/sandglass-run.1"
check 'a page that is made of the table alone, too' grep -q 'bash|zsh|fish' "$prefix/share/man/man1/sandglass-completion.1"
check 'the table of system calls is in the manual' grep -q '^.It Fn openat2 ' "$prefix/share/man/man7/sandglass-determinism.7"
check 'bash completion is there' test -f "$prefix/share/bash-completion/completions/sandglass"
check 'zsh completion is there' test -f "$prefix/share/zsh/site-functions/_sandglass"
check 'fish completion is there' test -f "$prefix/share/fish/vendor_completions.d/sandglass.fish"
check 'it runs from there' runs
check 'uninstall' scripts/uninstall "$dir" "${prefix#"$dir"}"
check 'nothing is left' left
rm -f "$dir.log"
tap_end
