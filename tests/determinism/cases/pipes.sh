# SPDX-License-Identifier: Apache-2.0
# Pipes beyond their room, several writers, SIGPIPE.
#: varies
#: uses pipes
./pipes
