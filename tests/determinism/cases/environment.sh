# SPDX-License-Identifier: Apache-2.0
# Addresses are the same in every run, the environment is the contract's.
#: row fixed
#: varies
#: uses fixed
./fixed addresses
./fixed addresses
env | LC_ALL=C sort
