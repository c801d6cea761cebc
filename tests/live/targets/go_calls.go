// SPDX-License-Identifier: MIT
// go_calls.go - one goroutine, on the first thread, that calls functions of all kinds for ever:
// what go_steps.c goes through instruction by instruction.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

type worker interface{ work(int) int }
type plain struct{ words map[int]string }
type large [96]int

var sink int

func init() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
}

//go:noinline
func (p *plain) work(n int) int {
	p.words[n%8] = strings.Repeat("x", n%40)
	return inlined(n) + len(p.words)
}

func inlined(n int) int { return deeper(n) * 2 }
func deeper(n int) int  { return leaf(n) + 1 }

//go:noinline
func leaf(n int) int { return n ^ 3 }

//go:noinline
func zeroed(n int) large {
	var one large
	one[n%len(one)] = n
	return one
}

//go:noinline
func copied(one large, n int) int { return one[n%len(one)] }

//go:noinline
func generic[T int | string](t T, f func(T) int) int { return f(t) }

//go:noinline
func deferring(n int) (result int) {
	defer func() { result += leaf(n) }()
	return n
}

//go:noinline
func recursive(n int) int {
	var pad large
	pad[n%len(pad)] = n
	if n <= 0 {
		return pad[0]
	}
	return recursive(n-1) + pad[n%len(pad)]
}

//go:noinline
func loop(w worker) {
	for n := 0; ; n++ {
		sink += w.work(n)
		sink += copied(zeroed(n), n)
		sink += generic("text", func(s string) int { return len(s) + n })
		sink += generic(n, func(i int) int { return i + n })
		sink += deferring(n)
		sink += recursive(n % 5)
		sink += int(time.Now().UnixNano() & 1)
		sink += syscall.Getpid()
		sink += len(fmt.Sprintf("%d %v", n, w != nil))
		if n == 3 {
			// The stack gets larger: it is copied.
			sink += recursive(40)
		}
	}
}

func main() {
	fmt.Println("ready")
	loop(&plain{map[int]string{}})
}
