# SPDX-License-Identifier: Apache-2.0
# Tries the pack: one asks, and what behaviors do about it is done.
main() {
	append greeting.asked '{"name": "world"}' && run_until_idle
}
