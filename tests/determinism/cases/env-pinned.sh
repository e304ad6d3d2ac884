# SPDX-License-Identifier: Apache-2.0
# The whole environment but for what the shell adds.
#: row fixed
#: pinned
#: rootless
#: out GODEBUG=randautoseed=0
#: out HOME=/tmp
#: out LC_ALL=C.UTF-8
#: out MALLOC_ARENA_MAX=1
#: out PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
#: out PYTHONHASHSEED=0
#: out SOURCE_DATE_EPOCH=1700000000
#: out TZ=UTC
env | grep -v -e '^PWD=' -e '^OLDPWD=' -e '^_=' -e '^SHLVL=' | LC_ALL=C sort
