// SPDX-License-Identifier: MIT

// An HTTP server for accuracy_servers.py: each request sorts and encodes some numbers, and takes a
// lock that all requests share.
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"sort"
	"sync"
)

var (
	lock  sync.Mutex
	count = map[string]int{}
)

func answer(w http.ResponseWriter, r *http.Request) {
	numbers := make([]int, 200)
	for i := range numbers {
		numbers[i] = (i * 7919) % 1009
	}
	sort.Ints(numbers)
	lock.Lock()
	count[r.URL.Path]++
	lock.Unlock()
	json.NewEncoder(w).Encode(numbers)
}

func main() {
	http.HandleFunc("/", answer)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
