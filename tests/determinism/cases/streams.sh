# SPDX-License-Identifier: Apache-2.0
# More than fits, by every call that can put it there; SIGPIPE and a signal on the way.
#: pinned
#: uses streams
#: out pipe write: 3145728 bytes right in 96 reads, status 0
#: out pipe writev: 3145728 bytes right in 96 reads, status 0
#: out pipe sendfile: 3145728 bytes right in 97 reads, status 0
#: out pipe splice: 3145728 bytes right in 96 reads, status 0
#: out unix write: 3145728 bytes right in 72 reads, status 0
#: out unix writev: 3145728 bytes right in 72 reads, status 0
#: out unix send: 3145728 bytes right in 72 reads, status 0
#: out unix sendfile: 3145728 bytes right in 68 reads, status 0
#: out ping-pong done
#: out SIGPIPE
#: out SIGPIPE
#: out partly written: 65536, then -1
#: out SIGPIPE
#: out interrupted write: 65536
#: out empty: -1 Resource temporarily unavailable
#: out full at 65536: Resource temporarily unavailable
#: out splice to append: -1 Invalid argument, still appends
./streams
