# SPDX-License-Identifier: Apache-2.0
# The compiler and linker of Go, from the standard library up.
#: varies
#: long
#: option --timeout
#: option 240s
#: needs go
export HOME=$PWD GOCACHE=$PWD/cache GOPATH=$PWD/go CGO_ENABLED=0 GOPROXY=off GOFLAGS=-mod=mod
mkdir module && cd module || exit
cat > go.mod <<'EOF'
module example.test/main

go 1.19
EOF
cat > main.go <<'EOF'
package main

import "os"

func main() {
	os.Stdout.WriteString("built\n")
}
EOF
go build -o main -work . 2>&1
./main
sha256sum main
go vet . && echo vetted
date +%s.%N
