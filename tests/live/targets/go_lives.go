// SPDX-License-Identifier: MIT

// go_lives MODE: goroutines that come and go.
//
//	exec      80 wait in before; then the program begins anew, and 120 wait in after
//	requests  15,000 end; then a thread is begun, and three times 100 wait in three functions
package main

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var (
	forever = make(chan int)
	kept    [][]byte
)

func before() { <-forever }

func after() { <-forever }

// Structures of goroutines lie elsewhere in each life.
func begin(count, size int, what func()) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, size+i))
		go what()
	}
}

func again() {
	if os.Getenv("AGAIN") == "" {
		begin(80, 300, before)
		time.Sleep(time.Second)
		os.Setenv("AGAIN", "1")
		panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
	}
	runtime.GC()
	begin(120, 500, after)
	time.Sleep(2 * time.Second)
}

func first()  { <-forever }
func second() { <-forever }
func third()  { <-forever }

func requests() {
	var all sync.WaitGroup

	for round := 0; round < 30; round++ {
		all.Add(500)
		for i := 0; i < 500; i++ {
			go func() {
				time.Sleep(50 * time.Millisecond)
				all.Done()
			}()
		}
		all.Wait()
	}
	for i := 0; i < 100; i++ {
		go first()
		go second()
		go third()
	}
	for i := 0; i < 4; i++ {
		go func() {
			runtime.LockOSThread()
			for {
				syscall.Select(0, nil, nil, nil, &syscall.Timeval{Usec: 1000})
			}
		}()
	}
	time.Sleep(3 * time.Second)
}

func main() {
	if os.Args[1] == "exec" {
		again()
	} else {
		requests()
	}
}
