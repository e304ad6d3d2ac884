// SPDX-License-Identifier: Apache-2.0
// Go: four threads that run Go code, a profile of the CPU, an unfair lock, the collector beside them.
//: varies
//: long
package main

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

func work(n uint64) uint64 {
	for i := 0; i < 300000; i++ {
		n = n*6364136223846793005 + 1442695040888963407
		n ^= n >> 29
	}
	return n
}

func main() {
	runtime.GOMAXPROCS(4)
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		panic(err)
	}
	var group sync.WaitGroup
	var mutex sync.Mutex
	var sum, steps uint64
	order := []int{}
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			for k := 0; k < 20; k++ {
				got := work(uint64(n*100 + k))
				atomic.AddUint64(&steps, 1)
				runtime.Gosched()
				mutex.Lock()
				sum ^= got
				order = append(order, n)
				mutex.Unlock()
				_ = make([]byte, 100000)
			}
		}(i)
	}
	group.Wait()
	runtime.GC()
	pprof.StopCPUProfile()
	fmt.Println(sum, steps, profile.Len() > 0, time.Now().UnixNano())
	fmt.Println(order)

	ping, pong := make(chan int), make(chan int)
	go func() {
		for n := range ping {
			pong <- n + 1
		}
		close(pong)
	}()
	n := 0
	for i := 0; i < 20000; i++ {
		ping <- n
		n = <-pong
	}
	close(ping)
	fmt.Println(n, time.Now().UnixNano())
}
