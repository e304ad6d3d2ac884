# SPDX-License-Identifier: Apache-2.0
# nginx with two workers and a client in one tree: a large file, a range, many requests, logs.
#: pinned
#: long
#: needs nginx curl sha256sum seq
#: out ready
#: out 1000000 bytes, the same: yes
#: out HTTP/1.1 206 Partial Content
#: out bytes 10-19/1000000
#: out 404
#: out 40 requests
#: out log: 43 lines, 14/Nov/2023
set -e
mkdir www tmp
seq -f '%09g' 1 100000 >www/numbers
cat >conf <<'CONF'
daemon off;
worker_processes 2;
pid tmp/pid;
error_log tmp/error.log;
events { worker_connections 64; }
http {
	access_log tmp/access.log;
	client_body_temp_path tmp/a; proxy_temp_path tmp/b; fastcgi_temp_path tmp/c;
	uwsgi_temp_path tmp/d; scgi_temp_path tmp/e;
	sendfile on;
	server { listen 127.0.0.1:8080; root www; }
}
CONF
nginx -e tmp/error.log -p "$PWD" -c "$PWD/conf" &
until curl -s -o /dev/null http://127.0.0.1:8080/numbers; do sleep 0.1; done
echo ready
one=$(sha256sum <www/numbers)
two=$(curl -s http://127.0.0.1:8080/numbers | sha256sum)
[ "$one" = "$two" ] && echo "$(wc -c <www/numbers) bytes, the same: yes"
curl -s -D - -o /dev/null -r 10-19 http://127.0.0.1:8080/numbers | tr -d '\r' | sed -n '1p; s/^Content-Range: //p'
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8080/nothing
for i in $(seq 40); do
	curl -s -o /dev/null http://127.0.0.1:8080/numbers &
	clients="$clients $!"
done
wait $clients
echo "40 requests"
kill -QUIT "$(cat tmp/pid)"
wait || :
echo "log: $(grep -c numbers tmp/access.log) lines, $(sed -n '1s/.*\[\([^:]*\):.*/\1/p' tmp/access.log)"
