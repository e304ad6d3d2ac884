# SPDX-License-Identifier: Apache-2.0
# A tree of processes that report through a pipe.
#: varies
#: rootless
#: uses tree
./tree
