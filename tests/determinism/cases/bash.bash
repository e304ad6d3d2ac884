# SPDX-License-Identifier: Apache-2.0
# bash: $RANDOM, traps, coproc, process substitution, time-outs.
#: varies
#: rootless
#: needs bash
echo $RANDOM $RANDOM $SRANDOM $$ $PPID $BASHPID $EPOCHREALTIME $SECONDS $UID
trap 'echo got USR1' USR1
trap 'echo got ALRM at $EPOCHSECONDS' ALRM
trap 'echo bye' EXIT
kill -USR1 $$
(sleep 1; kill -ALRM $$) &
wait
coproc cat
echo through >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
diff <(printf '1\n2\n') <(printf '1\n3\n')
declare -A map=([b]=1 [a]=2 [c]=3)
echo "${!map[@]}"
read -r -t 2 < <(sleep 5) || echo "timed out at $EPOCHREALTIME"
TIMEFORMAT='%R %U %S'
time sleep 3
