package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// batch collects lines, and sends them once a second.
type batch struct {
	url, key string
	mu       sync.Mutex // guards lines
	lines    bytes.Buffer
	sending  sync.Mutex // a flush waits for the one before it
}

func (b *batch) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines.Write(line)
}

func (b *batch) flush() {
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	body := bytes.Clone(b.lines.Bytes())
	b.lines.Reset()
	b.mu.Unlock()
	for attempt := 0; len(body) > 0; attempt++ {
		status := b.send(body)
		if status >= 200 && status < 300 {
			return
		}
		isFinal := status >= 400 && status < 500 && status != 408 && status != 429
		if isFinal || attempt == 5 {
			fmt.Fprintf(os.Stderr, "%d entries dropped, status %d\n", bytes.Count(body, []byte("\n")), status)
			return
		}
		time.Sleep(time.Second << attempt)
	}
}

// send returns the status of the response, 0 without one.
func (b *batch) send(body []byte) int {
	request, err := http.NewRequest("POST", b.url, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+b.key)
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func main() {
	out := &batch{url: "https://logs.example.com/ingest", key: "sk_..."}
	slog.SetDefault(slog.New(slog.NewJSONHandler(out, nil)))
	go func() {
		for range time.Tick(time.Second) {
			out.flush()
		}
	}()
	slog.Error("Payment failed", "order", 7)
	out.flush()
}
