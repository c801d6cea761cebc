// SPDX-License-Identifier: MIT

// go_demos MODE - three programs whose threads look idle, or busy with the wrong thing.
//
// channel: 1,024 goroutines take from a channel into which one puts an item each 10 ms, and spins
// in between. compute: 4,096 that compute, and one that waits for them. ends: batches of 65,536
// that end at once.
//
// Prints "ready" when it is at it, and ends with the standard input.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	takers    = 1024
	computers = 4096
	batch     = 65536
)

var sink atomic.Uint64

//go:noinline
func take(items chan int) {
	for item := range items {
		sink.Add(uint64(item))
	}
}

//go:noinline
func busyWait(span time.Duration) {
	for began := time.Now(); time.Since(began) < span; {
	}
}

//go:noinline
func put(items chan int) {
	for {
		busyWait(10 * time.Millisecond)
		items <- 1
	}
}

func channel() {
	items := make(chan int, 1)
	for i := 0; i < takers; i++ {
		go take(items)
	}
	go put(items)
}

//go:noinline
func sumOfSqrt(from, to int) float64 {
	sum := 0.0
	for i := from; i < to; i++ {
		sum += math.Sqrt(float64(i))
		if i%1000 == 0 {
			runtime.Gosched() // else most of them would not have begun
		}
	}
	return sum
}

func computeOnce() {
	var all sync.WaitGroup
	for i := 0; i < computers; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			sink.Add(uint64(sumOfSqrt(i, i+2000000)))
		}(i)
	}
	all.Wait()
}

func compute() {
	go func() {
		for {
			computeOnce()
		}
	}()
}

//go:noinline
func endAtOnce(all *sync.WaitGroup) {
	all.Done()
}

func ends() {
	go func() {
		for {
			var all sync.WaitGroup
			all.Add(batch)
			for i := 0; i < batch; i++ {
				go endAtOnce(&all)
			}
			all.Wait()
		}
	}()
}

func main() {
	// Read in a goroutine's own time: a system call that blocks keeps a thread.
	modes := map[string]func(){"channel": channel, "compute": compute, "ends": ends}
	modes[os.Args[1]]()
	runtime.Gosched()
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}
