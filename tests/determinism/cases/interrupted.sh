# SPDX-License-Identifier: Apache-2.0
# Waiting calls and signals.
#: uses interrupted
#: rootless
#: out read: -1 EINTR handled 1
#: out read with SA_RESTART: 1 handled 1
#: out nanosleep: -1 EINTR handled 1
#: out about 3 s are left
#: out nanosleep through an ignored signal: 0 handled 0
#: out pause: -1 EINTR handled 1
#: out poll: -1 EINTR handled 1
#: out poll with SA_RESTART: -1 EINTR handled 1
#: out sigsuspend: -1 EINTR handled 1
#: out blocked again: 1
#: out sigwait: 0 handled 0
#: out sigtimedwait of nothing: -1 EAGAIN handled 0
#: out sigtimedwait: 14 handled 0
#: out sent by the kernel: 1, pid 0
#: out ppoll: -1 EINTR handled 1
#: out interval timer: 0 handled 3
#: out pause ended by a thread: -1 EINTR handled 1
#: out SIGTERM: exited 0 status 0 signalled 15 stopped 0
#: out SIGKILL: exited 0 status 0 signalled 9 stopped 0
#: out SIGSTOP: exited 0 status 0 signalled 0 stopped 19
#: out SIGCONT: exited 1 status 7 signalled 0 stopped 0
#: out waitpid with a handler: 1 handled 1
#: out sleep ended by a child: 1 handled 1
#: out waitpid of ignored children: -1 ECHILD handled 0
# The expected lines are the native kernel's own.
./interrupted
