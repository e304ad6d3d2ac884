// SPDX-License-Identifier: Apache-2.0
// Go: goroutines, select, time-outs, a ticker of an hour, the order of a map, the collector.
//: varies
//: patience 2
package main

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sync"
	"time"
)

func main() {
	rand.Seed(time.Now().UnixNano())
	fmt.Println(time.Now().UnixNano(), os.Getpid(), rand.Int(), runtime.NumCPU())
	draw := make([]byte, 8)
	crand.Read(draw)
	fmt.Printf("%x\n", draw)
	ages := map[string]int{}
	for i := 0; i < 12; i++ {
		ages[fmt.Sprint("name", i)] = i
	}
	for name := range ages {
		fmt.Print(name, " ")
	}
	fmt.Println()

	results := make(chan string)
	for i := 0; i < 6; i++ {
		go func(n int) {
			time.Sleep(time.Duration(rand.Intn(1000)) * time.Millisecond)
			results <- fmt.Sprint("worker ", n, " ", time.Now().UnixNano())
		}(i)
	}
	for i := 0; i < 6; i++ {
		fmt.Println(<-results)
	}
	one, two := make(chan int, 1000), make(chan int, 1000)
	for i := 0; i < 1000; i++ {
		one <- i
		two <- i
	}
	picked := 0
	for i := 0; i < 1000; i++ {
		select {
		case <-one:
			picked++
		case <-two:
		}
	}
	fmt.Println("picked", picked)

	ticker := time.NewTicker(time.Hour)
	for i := 0; i < 3; i++ {
		select {
		case t := <-ticker.C:
			fmt.Println("tick", t.Unix())
		case <-time.After(90 * time.Minute):
			fmt.Println("never")
		}
	}
	ticker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	<-ctx.Done()
	fmt.Println(errors.Is(ctx.Err(), context.DeadlineExceeded), time.Now().UnixNano())

	var mutex sync.Mutex
	var group sync.WaitGroup
	order := []int{}
	for i := 0; i < 50; i++ {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			runtime.Gosched()
			mutex.Lock()
			order = append(order, n)
			mutex.Unlock()
		}(i)
	}
	group.Wait()
	fmt.Println(order)
	kept := [][]byte{}
	for i := 0; i < 2000; i++ {
		garbage := make([]byte, 50000)
		if i%100 == 0 {
			kept = append(kept, garbage)
		}
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Println(len(kept), stats.NumGC > 0, runtime.NumGoroutine())
}
