// SPDX-License-Identifier: MIT

// go_client - goroutines that ask a slow server over HTTP, with the client of the standard library:
// they wait for a goroutine of net/http, which waits for the connection. The server is a child
// process, which answers after 50 ms. With the argument "proxy", the goroutines that ask are those
// of a server of this process, which the child process asks in turn.
//
// Prints the port of the slow server when it has answered each goroutine, and ends with the
// standard input.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

const clients = 4

// The child process: serves on descriptor 3, and asks each URL of the arguments all the time.
func serve(urls []string) {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		os.Exit(1)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for _, url := range urls {
		go askForEver(client, url, nil)
	}
	http.Serve(listener, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		time.Sleep(50 * time.Millisecond)
		io.WriteString(out, "1")
	}))
}

//go:noinline
func loadPrice(client *http.Client, url string) {
	reply, err := client.Get(url)
	if err != nil {
		os.Exit(1)
	}
	io.Copy(io.Discard, reply.Body)
	reply.Body.Close()
}

func askForEver(client *http.Client, url string, asked chan bool) {
	loadPrice(client, url)
	if asked != nil {
		asked <- true
	}
	for {
		loadPrice(client, url)
	}
}

func listen() (net.Listener, string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	return listener, fmt.Sprintf("http://127.0.0.1:%d/", listener.Addr().(*net.TCPAddr).Port)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		serve(os.Args[2:])
	}
	proxy := len(os.Args) > 1 && os.Args[1] == "proxy"
	listener, url := listen()
	file, _ := listener.(*net.TCPListener).File()
	server := exec.Command(os.Args[0], "server")
	front, frontURL := listen()
	for i := 0; proxy && i < clients; i++ {
		server.Args = append(server.Args, frontURL)
	}
	server.ExtraFiles = []*os.File{file}
	if server.Start() != nil {
		os.Exit(1)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	asked := make(chan bool, clients)
	if proxy {
		go http.Serve(front, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			loadPrice(client, url)
			select {
			case asked <- true:
			default:
			}
		}))
	}
	for i := 0; !proxy && i < clients; i++ {
		go askForEver(client, url, asked)
	}
	for i := 0; i < clients; i++ {
		<-asked
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
	server.Process.Kill()
	server.Wait()
}
