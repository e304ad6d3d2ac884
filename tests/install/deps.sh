#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts/deps with stand-ins for dpkg-query, apt-get, sudo and id: what it asks for, and what it says.
set -u
. "$SANDGLASS_SOURCE/tests/install/tap.sh"
deps=$SANDGLASS_SOURCE/scripts/deps
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A machine: which packages it has, who we are, whether there is sudo, whether apt-get succeeds.
machine() {
	rm -rf "$dir/bin"
	mkdir "$dir/bin"
	for tool in sh env cat rm mktemp; do
		ln -s "$(command -v $tool)" "$dir/bin/$tool"
	done
	cat >"$dir/bin/dpkg-query" <<-END
		#!/bin/sh
		for p in $1; do echo "installed \$p"; done
		echo "not-installed gcc-not"
	END
	printf '#!/bin/sh\necho %s\n' "$2" >"$dir/bin/id"
	[ "$3" = no ] || printf '#!/bin/sh\necho sudo >>"%s"\nexec "$@"\n' "$dir/calls" >"$dir/bin/sudo"
	printf '#!/bin/sh\necho "apt-get $*" >>"%s"\nexit %s\n' "$dir/calls" "$4" >"$dir/bin/apt-get"
	chmod +x "$dir"/bin/dpkg-query "$dir"/bin/id "$dir"/bin/apt-get
	[ "$3" = no ] || chmod +x "$dir/bin/sudo"
	: >"$dir/calls"
	: >"$dir/said"
}
run() {
	env -i PATH="$dir/bin" sh "$deps" "$@" >"$dir/said" 2>&1
}
said() {
	grep -q "$1" "$dir/said"
}
called() {
	grep -q "$1" "$dir/calls"
}
silent() {
	[ ! -s "$dir/calls" ] && [ ! -s "$dir/said" ]
}

machine "$(sh "$deps" --list build bench)" 1000 no 0
check 'with everything there it needs nobody' run build bench
check 'and says and does nothing' silent

machine "gcc meson" 0 no 0
check 'as root it installs' run build
check 'what is missing' called 'install.* libc6-dev ninja-build'
check 'and nothing that is there' sh -c '! grep -q " meson " "$1"' sh "$dir/calls"
check 'and says what' said 'installing libc6-dev'

machine "" 1000 yes 0
check 'as another user it installs through sudo' run build
check 'indeed' called sudo

machine "gcc" 1000 no 0
check 'without sudo it fails' sh -c '! "$@"' sh env -i PATH="$dir/bin" sh "$deps" build 2>/dev/null
run build
check 'with the command to give' said 'as root, run: apt-get install libc6-dev'

machine "gcc" 0 no 100
run build
check 'when apt-get fails it tries once more with new lists' called 'apt-get update'
check 'then says so' said 'could not install libc6-dev'

machine "" 0 no 0
run nonsense
check 'an unknown group is named' said "no group 'nonsense'"
tap_end
