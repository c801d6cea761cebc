// SPDX-License-Identifier: MIT

// An HTTP server for causal_real.py: each request calls score(), then rank() with a lock that all
// requests share, and encodes a number. The steps of both are in a file of three 64-bit numbers that
// another process can change; the third counts requests. It ends with the process that started it.
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var (
	lock   sync.Mutex
	total  uint64
	served uint64
	work   *[3]uint64
)

//go:noinline
func score(steps uint64) uint64 {
	x := steps
	for i := uint64(0); i < steps; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func rank(steps uint64) {
	for i := uint64(0); i < steps; i++ {
		total = total*6364136223846793005 + 1442695040888963407
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	numbers := []uint64{score(atomic.LoadUint64(&work[0]))}
	lock.Lock()
	rank(atomic.LoadUint64(&work[1]))
	lock.Unlock()
	json.NewEncoder(w).Encode(numbers)
	atomic.AddUint64(&served, 1)
	atomic.AddUint64(&work[2], 1)
}

func main() {
	file, err := os.OpenFile(os.Getenv("WORK_FILE"), os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	memory, err := syscall.Mmap(int(file.Fd()), 0, 24, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	work = (*[3]uint64)(unsafe.Pointer(&memory[0]))
	go func() {
		for parent := os.Getppid(); os.Getppid() == parent; {
			time.Sleep(time.Second)
		}
		os.Exit(1)
	}()
	http.HandleFunc("/", answer)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
