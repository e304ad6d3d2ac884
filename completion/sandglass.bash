# SPDX-License-Identifier: Apache-2.0
# Completion of sandglass for bash; tests/lint/options.py keeps it in step with the program.
_sandglass()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	local options='--rootfs --bind-ro --bind --workdir --env --out --workflow-id --epoch
		--clock-step-ns --memory --pids --timeout --verify --report --json --no-determinism
		--print-contract --help'

	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W 'run explain --help --version' -- "$cur"))
		return
	fi
	[ "${COMP_WORDS[1]}" = run ] || return
	# After the program's name its own words follow.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			COMPREPLY=($(compgen -c -f -- "$cur"))
			return
		fi
	done
	case $prev in
	--rootfs | --workdir | --out) COMPREPLY=($(compgen -d -- "$cur")) ;;
	--bind | --bind-ro | --report) COMPREPLY=($(compgen -f -- "$cur")) ;;
	--env | --workflow-id | --epoch | --clock-step-ns | --memory | --pids | --timeout) ;;
	*) COMPREPLY=($(compgen -W "$options --" -- "$cur")) ;;
	esac
}
complete -F _sandglass sandglass
