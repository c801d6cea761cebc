// SPDX-License-Identifier: MIT

// go_peers - goroutines that wait for a connection: a client that asks a server, a child process
// which answers after 50 ms, over a new connection each time; another client that is never answered;
// and a listener that nothing connects to.
//
// Prints the port of the server and of that listener, and ends with the standard input.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

func answer(conn net.Conn) {
	byte := make([]byte, 1)
	conn.Read(byte)
	if byte[0] == 'w' {
		conn.Read(byte) // until the client ends
	}
	time.Sleep(50 * time.Millisecond)
	conn.Write(byte)
	conn.Close()
}

func serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go answer(conn)
	}
}

//go:noinline
func ask(port int, question byte) {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		os.Exit(1)
	}
	byte := []byte{question}
	conn.Write(byte)
	conn.Read(byte)
	conn.Close()
}

//go:noinline
func fetchPrice(port int) {
	ask(port, 'x')
}

//go:noinline
func watchPrices(port int) {
	ask(port, 'w')
}

func loadPrices(port int) {
	for {
		fetchPrice(port)
	}
}

func listen() (net.Listener, int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return listener, listener.Addr().(*net.TCPAddr).Port
}

// The child has the standard input of the parent, and ends with it, too.
func startServer() (port int) {
	child := exec.Command(os.Args[0], "serve")
	child.Stdin = os.Stdin
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		panic(err)
	}
	fmt.Fscan(out, &port)
	return port
}

func main() {
	listener, port := listen()
	go serve(listener)
	if len(os.Args) > 1 {
		fmt.Println(port)
	} else {
		server := startServer()
		go loadPrices(server)
		go watchPrices(server)
		fmt.Println(server, port)
	}
	os.Stdin.Read(make([]byte, 1))
}
