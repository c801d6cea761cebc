// SPDX-License-Identifier: MIT
// go_foreign.go - goroutines that wait in C, and one that C has called; it answers as go_tasks.go
// does, to "name HEX" alone.
package main

/*
#include <unistd.h>

extern void called(int fd);
extern void ready(void);

static void wait_in_c(int fd) { char byte; ready(); (void)!read(fd, &byte, 1); }
static void call_back(int fd) { called(fd); }
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

var group sync.WaitGroup

//export ready
func ready() { group.Done() }

//export called
func called(fd C.int) {
	group.Done()
	_, _ = syscall.Read(int(fd), make([]byte, 1))
}

//go:noinline
func waits(fd int) { C.wait_in_c(C.int(fd)) }

//go:noinline
func isCalled(fd int) { C.call_back(C.int(fd)) }

func main() {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	group.Add(2)
	go func() { waits(ends[0]) }()
	go func() { isCalled(ends[0]) }()
	group.Wait()
	fmt.Println("ready 0")
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		pc, _ := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(line), "name "), 16, 64)
		frame, _ := runtime.CallersFrames([]uintptr{uintptr(pc + 1)}).Next()
		if f := runtime.FuncForPC(frame.Entry); f != nil {
			fmt.Println(f.Name())
		} else {
			fmt.Println("?")
		}
	}
}
