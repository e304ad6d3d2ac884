# SPDX-License-Identifier: Apache-2.0
# Every call of the table, with arguments that mean nothing: nothing is unknown, and all answers are the same again.
#: rootless
#: uses every
./every
