# SPDX-License-Identifier: Apache-2.0
# tmux: a server, a session without a client, typed keys, two panes.
#: needs tmux bash seq
#: varies
#: long
export TERM=xterm
m() { tmux -f /dev/null -S ./socket "$@"; }
m new-session -d -s a -x 80 -y 20 'seq 1 5; PS1="% " bash --norc --noprofile'
sleep 2
m send-keys -t a 'echo typed $((6*7)); date +%N; tty' Enter
sleep 1
m split-window -t a 'seq 1 1000; sleep 10'
sleep 1
m capture-pane -p -t a:0.0 | grep .
m capture-pane -p -t a:0.1 | tail -n 2
m list-panes -t a -F '#{pane_index} #{pane_width}x#{pane_height} #{pane_pid}'
m kill-server
