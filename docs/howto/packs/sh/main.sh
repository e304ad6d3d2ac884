# SPDX-License-Identifier: Apache-2.0
# The code of the pack: answers what it is told on descriptor 3, speaks on 4; docs/format/pack.md.

tell() {
	printf '%s\n' "$1" >&4
}

# Asks and waits for the reply; what is to be done meanwhile is done.
ask() {
	tell "$1"
	serve
}

# append TYPE PAYLOAD
append() {
	ask "{\"append\":{\"type\":\"$1\",\"payload\":$2}}"
}

run_until_idle() {
	ask '{"idle":{}}'
}

# The behavior "greet": its event is the argument.
greet() {
	name=${1#*'"name": "'}
	append greeting.given "{\"text\": \"hello, ${name%%'"'*}\"}"
}

# The value of a member of a message, whose form is always the same.
member() {
	rest=${2#*"\"$1\":\""}
	printf '%s' "${rest%%'"'*}"
}

# do_one LINE NONCE: the arguments are this call's own, while calls are nested.
do_one() {
	case $1 in
	'{"do":"describe"'*)
		tell "{\"done\":\"$2\",\"surface\":{\"name\":\"example\",\"version\":\"0.1.0\",\"behaviors\":[{\"name\":\"greet\",\"on\":[\"greeting.asked\"]}]}}"
		;;
	'{"do":"scenario"'*)
		. "./$(member file "$1")" && "$(member function "$1")" && tell "{\"done\":\"$2\"}" ||
			tell "{\"failed\":\"the scenario's status was not 0\",\"nonce\":\"$2\"}"
		;;
	'{"do":"behavior"'*)
		greet "$1"
		tell "{\"done\":\"$2\"}"
		;;
	'{"do":"end"'*) exit 0 ;;
	esac
}

# Until a reply.
serve() {
	while read -r line <&3; do
		case $line in
		'{"reply"'*)
			reply=$line
			return 0
			;;
		'{"refused"'*)
			reply=$line
			return 1
			;;
		*) do_one "$line" "$(member nonce "$line")" ;;
		esac
	done
	exit 0
}

serve
