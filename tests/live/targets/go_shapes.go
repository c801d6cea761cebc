// SPDX-License-Identifier: MIT
// go_shapes.go - sleeps in a system call below functions of all kinds, and says first what Go's
// runtime thinks of its stack: FUNCTION FILE:LINE of each frame, innermost first, then "ready".
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

type T struct{ n int }

func init() { runtime.LockOSThread() }

//go:noinline
func (t *T) Method(n int) int { return inlined(t.n+n) + 1 }

func inlined(n int) int { return deeper(n) * 2 }
func deeper(n int) int {
	return asleep(n) + 1
}

//go:noinline
func generic[P any](p P, f func(P) int) int { return f(p) + 1 }

//go:noinline
func deferring(t *T) (n int) {
	defer func() { n += t.Method(3) }()
	return 1
}

//go:noinline
func asleep(n int) int {
	var at [64]uintptr
	var one [1]byte
	frames := runtime.CallersFrames(at[:runtime.Callers(1, at[:])])
	for {
		frame, more := frames.Next()
		fmt.Printf("%s %s:%d\n", frame.Function, frame.File, frame.Line)
		if !more {
			break
		}
	}
	fmt.Println("ready")
	os.Stdout.Close()
	var pipe [2]int
	syscall.Pipe(pipe[:])
	for n > 0 {
		syscall.Read(pipe[0], one[:])
	}
	return n + int(one[0])
}

func main() {
	generic(1, func(n int) int { return deferring(&T{n}) })
}
