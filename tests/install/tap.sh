# SPDX-License-Identifier: Apache-2.0
# TAP for shell tests: check NAME COMMAND ... , then tap_end.
tap_count=0
tap_bad=0

check() {
	tap_name=$1
	shift
	tap_count=$((tap_count + 1))
	if "$@"; then
		echo "ok $tap_count - $tap_name"
	else
		echo "not ok $tap_count - $tap_name"
		tap_bad=1
	fi
}

tap_end() {
	echo "1..$tap_count"
	exit "$tap_bad"
}
