# SPDX-License-Identifier: Apache-2.0
# PostgreSQL: initdb, the server with its processes, two clients that fight for a row, a crash, a recovery.
#: varies
#: patience 60
#: ordinary
#: long
#: option --timeout
#: option 240s
#: needs /usr/lib/postgresql/15/bin/postgres
bin=/usr/lib/postgresql/15/bin
export PGDATA=$PWD/data PGHOST=$PWD PGDATABASE=postgres
$bin/initdb -A trust -N | sed 's/^/initdb: /'
start() {
	$bin/pg_ctl -l log -o "-c listen_addresses= -k $PWD -c shared_buffers=4MB" -w start
}
query() {
	$bin/psql -XAtq "$@"
}
start
query -c "create table t (n int primary key, v double precision, at timestamptz default now(), u uuid default gen_random_uuid())"
query -c "insert into t (n, v) select n, random() from generate_series(1, 1000) n"
query -c "select sum(v), min(at), max(at) from t" -c "select * from t order by u limit 3" -c "select pg_backend_pid(), version() is not null"
for i in 1 2; do
	query -c "begin" -c "update t set v = v + $i where n = 1" -c "select pg_sleep(0.5 * $i), v, clock_timestamp() from t where n = 1" -c commit &
done
wait
query -c "select v, xmin from t where n = 1" -c "set statement_timeout = '2s'" -c "select pg_sleep(100)"
query -c "vacuum analyze t" -c "select relpages, reltuples from pg_class where relname = 't'"
$bin/pg_ctl -m immediate stop
start
query -c "select count(*) from t"
$bin/pg_ctl -m fast stop
sed "s/\[[0-9]*\]/[pid]/" log
