// SPDX-License-Identifier: Apache-2.0
// Go: a loop with nothing in it but an atomic load; only the runtime's own signal gets the processor from it.
//: out seen
package main

import (
	"fmt"
	"sync/atomic"
)

var flag int32

func main() {
	go func() {
		atomic.StoreInt32(&flag, 1)
	}()
	for atomic.LoadInt32(&flag) == 0 {
	}
	fmt.Println("seen")
}
