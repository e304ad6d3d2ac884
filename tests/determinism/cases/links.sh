# SPDX-License-Identifier: Apache-2.0
# Much traffic of random amounts over pipes, unix and TCP connections: every call moves the same.
#: varies
#: uses links
./links
