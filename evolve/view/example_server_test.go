package view_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// search is a search for a long program.
func search() []evolve.Arm {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: strings.Repeat("x", int(req.Seed%9)),
			Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{}}}}, nil
	})
	long, err := task.New(task.Spec{Name: "long", System: "Say x.", Initial: "x",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		log.Fatal(err)
	}
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: long, LLM: model, N: 4}, 1)
	if err != nil {
		log.Fatal(err)
	}
	return arms
}

// A program serves the page of its runs. The link is for whoever may see them.
func ExampleServer() {
	server, err := view.NewServer(view.ServerConfig{Title: "my search"})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	link, err := server.Listen("")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(link, "http://127.0.0.1:"), link == server.URL())
	// Output: true true
}

// Runs of this process or of others are shown by their journals: those that there are, and those that begin later.
func ExampleServer_Follow() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "long.journal"), journal.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()

	server, err := view.NewServer(view.ServerConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	if err := server.Follow(dir); err != nil {
		log.Fatal(err)
	}
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: search(), Budget: evolve.Budget{Calls: 8}, Journal: j})
	fmt.Println(err)
	// Output: <nil>
}

// In a server of its own a program decides who may read, for every path.
func ExampleServer_ServeHTTP() {
	server, err := view.NewServer(view.ServerConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/runs/", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "correct horse" { // in place of your own
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		http.StripPrefix("/runs", server).ServeHTTP(w, r)
	})

	own := httptest.NewServer(mux)
	defer own.Close()
	for _, password := range []string{"", "correct horse"} {
		req, err := http.NewRequest(http.MethodGet, own.URL+"/runs/api/runs", nil)
		if err != nil {
			log.Fatal(err)
		}
		req.SetBasicAuth("me", password)
		answer, err := own.Client().Do(req)
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Println(answer.StatusCode, strings.TrimSpace(string(text)))
	}
	// Output:
	// 401 who are you?
	// 200 {"title":"evoalloc","runs":[]}
}
