// SPDX-License-Identifier: Apache-2.0
// Go: TCP and HTTP over loopback with their deadlines, child processes, signals.
//: varies
//: long
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				line, err := bufio.NewReader(conn).ReadString('\n')
				if err == nil {
					fmt.Fprintf(conn, "%s from %s\n", line[:len(line)-1], conn.RemoteAddr())
				}
			}()
		}
	}()
	answers := make(chan string)
	for i := 0; i < 5; i++ {
		go func(n int) {
			conn, err := net.Dial("tcp", listener.Addr().String())
			check(err)
			fmt.Fprintf(conn, "line %d\n", n)
			all, err := io.ReadAll(conn)
			check(err)
			answers <- string(all)
		}(i)
	}
	for i := 0; i < 5; i++ {
		fmt.Print(<-answers)
	}
	conn, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	check(conn.SetReadDeadline(time.Now().Add(3 * time.Second)))
	_, err = conn.Read(make([]byte, 1))
	fmt.Println(err.(net.Error).Timeout(), time.Now().UnixNano())
	conn.Close()

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		fmt.Fprintln(w, r.RemoteAddr, time.Now().UnixNano())
	})
	web, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(web, nil)
	response, err := http.Get("http://" + web.Addr().String())
	check(err)
	body, err := io.ReadAll(response.Body)
	check(err)
	fmt.Print(response.Header.Get("Date"), " ", string(body))

	out, err := exec.Command("sh", "-c", "echo $$; date +%s.%N; sleep 2; exit 3").Output()
	fmt.Print(string(out), err, "\n")
	sleeper := exec.Command("sleep", "100")
	check(sleeper.Start())
	time.AfterFunc(time.Second, func() { sleeper.Process.Kill() })
	fmt.Println(sleeper.Wait(), time.Now().UnixNano())
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	check(err)
	pipe, err := cat.StdoutPipe()
	check(err)
	check(cat.Start())
	go func() {
		in.Write(make([]byte, 1000000))
		in.Close()
	}()
	all, err := io.ReadAll(pipe)
	fmt.Println(len(all), err, cat.Wait())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	check(syscall.Kill(os.Getpid(), syscall.SIGUSR1))
	fmt.Println(<-signals)
}
