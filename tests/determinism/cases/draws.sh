# SPDX-License-Identifier: Apache-2.0
# Randomness from every place, in several processes.
#: row entropy
#: varies
#: rootless
#: uses draws draws-static
./draws
./draws-static
