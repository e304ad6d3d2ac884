# SPDX-License-Identifier: Apache-2.0
# openssl keys and certificates, xz with threads.
#: varies
#: needs openssl xz
openssl rand -hex 16
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -keyout k.pem -out c.pem 2>/dev/null
openssl x509 -in c.pem -noout -dates -serial -fingerprint
seq 200000 | xz -T0 | sha256sum
