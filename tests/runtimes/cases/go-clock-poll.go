// SPDX-License-Identifier: Apache-2.0
// Go: polls the clock until it moves, which the timer of the runtime's own thread makes it do.
//: out moved
package main

import (
	"fmt"
	"time"
)

func main() {
	start := time.Now()
	for time.Since(start) < 50*time.Millisecond {
	}
	fmt.Println("moved")
}
