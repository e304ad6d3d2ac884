# SPDX-License-Identifier: Apache-2.0
# Signals between a parent and its children.
#: uses signals
#: out answer 1
#: out answer 2
#: out answer 3
#: out answer 4
#: out answer 5
#: out child ended with 7, SIGCHLD 1
#: out victim: signal 15
#: out kill of a dead one: No such process
./signals
