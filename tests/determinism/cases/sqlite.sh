# SPDX-License-Identifier: Apache-2.0
# sqlite3 random() and the file that it writes.
#: varies
#: rootless
#: needs sqlite3
sqlite3 t.db "create table t(a, b); insert into t values(random(), datetime('now')), (hex(randomblob(8)), julianday('now'));
select * from t; select random(), strftime('%f'), sqlite_version();"
sha256sum t.db
