# SPDX-License-Identifier: Apache-2.0
# redis-server with redis-benchmark in one tree: answers, ids, latencies and the file that it saves.
#: varies
#: long
#: needs redis-check-rdb redis-cli redis-benchmark sha256sum
set -e
# The server is the checker under another name.
ln -s "$(command -v redis-check-rdb)" redis-server
./redis-server --port 7000 --save "" --dir . --daemonize no --logfile log --appendonly yes &
until redis-cli -p 7000 ping 2>/dev/null; do sleep 0.1; done
redis-benchmark -p 7000 -n 1000 -c 5 -t set,get,lpush,zadd --csv
redis-cli -p 7000 set key value
redis-cli -p 7000 blpop list 3
redis-cli -p 7000 randomkey
redis-cli -p 7000 info server | grep -E '^(run_id|uptime_in_seconds|tcp_port|process_id|multiplexing_api)'
redis-cli -p 7000 expire key 100
sleep 60
redis-cli -p 7000 ttl key
redis-cli -p 7000 save
redis-cli -p 7000 shutdown nosave
wait
sed 's/^[^ ]* //' log
sha256sum dump.rdb
