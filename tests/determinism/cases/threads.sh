# SPDX-License-Identifier: Apache-2.0
# Plain threads: locks, a barrier, conditions.
#: varies
#: rootless
#: uses threads
./threads
