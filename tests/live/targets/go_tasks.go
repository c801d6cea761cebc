// SPDX-License-Identifier: MIT
// go_tasks.go - goroutines that wait for all kinds of things, or run; and what the runtime says of
// them, for those who ask. It says "ready ADDRESS" when all are where they are to be: of a
// number that grows while they run.
//
//	go_tasks quiet      each waits for something else
//	go_tasks busy N     N that compute, that ask for the time, and that allocate, each
//	go_tasks many N     N that wait for one channel
//
// A line "stacks" is answered by all stacks, and a line "."; "name HEX" by the function there, not
// what is inlined in it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	mutex   sync.Mutex
	group   sync.WaitGroup
	never   = make(chan int)
	full    = make(chan int)
	sink    atomic.Uint64
	kept    []byte
	begun   atomic.Int32
	turns   atomic.Uint64
	changed = sync.NewCond(&sync.Mutex{})
)

// Goroutines are begun by others, too.
//
//go:noinline
func nested() {
	go func() {
		go func() { <-never }()
		full <- 1
	}()
}

func quiet() int {
	mutex.Lock()
	group.Add(1)
	reader, _, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() { <-never }()
	go func() { var nothing chan int; <-nothing }()
	go func() { mutex.Lock() }()
	go func() { group.Wait() }()
	go func() { time.Sleep(1000 * time.Hour) }()
	go func() { _, _ = reader.Read(make([]byte, 1)) }()
	go func() { select {} }()
	go func() {
		select {
		case <-never:
		case <-time.After(1000 * time.Hour):
		}
	}()
	go func() { changed.L.Lock(); changed.Wait() }()
	for i := 0; i < 8; i++ {
		go func() { <-never }()
	}
	// Those that have ended leave their places empty.
	for i := 0; i < 8; i++ {
		group := make(chan int)
		go func() { group <- 1 }()
		<-group
	}
	nested()
	return 9 + 8 + 2
}

//go:noinline
func step(n, i uint64) uint64 { return n*6364136223846793005 + i }

//go:noinline
func compute(n uint64) uint64 {
	for i := uint64(0); i < 1000; i++ {
		n = step(n, i)
	}
	return n
}

//go:noinline
func ask() uint64 { return uint64(time.Now().Nanosecond()) }

//go:noinline
func allocate(n uint64) uint64 { kept = make([]byte, 1000+n%100000); return uint64(len(kept)) }

func busy(n int) {
	for i := 0; i < n; i++ {
		go func() {
			for begun.Add(1); ; turns.Add(1) {
				sink.Store(compute(sink.Load()))
			}
		}()
		go func() {
			for begun.Add(1); ; turns.Add(1) {
				sink.Store(ask())
			}
		}()
		go func() {
			for begun.Add(1); ; turns.Add(1) {
				sink.Store(allocate(sink.Load()))
			}
		}()
	}
	for begun.Load() < int32(3*n) {
		runtime.Gosched()
	}
}

func stacks() string {
	for size := 1 << 16; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size {
			return string(text[:n])
		}
	}
}

// Until so many wait, and none but this one runs: not the collector of garbage, either, of which each
// look makes some.
func settle(count int) {
	for {
		text := stacks()
		if runtime.NumGoroutine() == count+1 && strings.Count(text, "[running") == 1 &&
			!strings.Contains(text, "[runnable") && !strings.Contains(text, "[syscall") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func answer(line string) {
	if line == "stacks" {
		fmt.Printf("%s\n\n.\n", strings.TrimSpace(stacks()))
		return
	}
	pc, _ := strconv.ParseUint(strings.TrimPrefix(line, "name "), 16, 64)
	frame, _ := runtime.CallersFrames([]uintptr{uintptr(pc + 1)}).Next()
	if f := runtime.FuncForPC(frame.Entry); f != nil {
		fmt.Println(f.Name())
	} else {
		fmt.Println("?")
	}
}

func main() {
	n := 0
	if len(os.Args) > 2 {
		n, _ = strconv.Atoi(os.Args[2])
	}
	switch os.Args[1] {
	case "quiet":
		settle(quiet())
	case "busy":
		busy(n)
	case "many":
		for i := 0; i < n; i++ {
			go func() { begun.Add(1); <-never }()
		}
		for begun.Load() < int32(n) {
			runtime.Gosched()
		}
	}
	fmt.Printf("ready %p\n", &turns)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return
		}
		answer(strings.TrimSpace(line))
	}
}
