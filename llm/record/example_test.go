package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/record"
)

// shout stands for a model here: it answers with the last message in other words.
func shout(_ context.Context, req llm.Request) (llm.Reply, error) {
	text := req.Messages[len(req.Messages)-1].Content + "!"
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop"}}}, nil
}

func say(text string, seed uint32) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}, Seed: seed}
}

func ExampleRecorder() {
	dir, err := os.MkdirTemp("", "evoalloc")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	recorder, err := record.File(llm.Func(shout), filepath.Join(dir, "run.jsonl"))
	if err != nil {
		panic(err)
	}
	recorder.Generate(context.Background(), say("hello", 1))
	if err := recorder.Close(); err != nil {
		panic(err)
	}
	again, err := record.Replay(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		panic(err)
	}
	reply, err := again.Generate(context.Background(), say("hello", 1))
	fmt.Println(reply.Text, reply.Attempts[0].Status, err, again.Left())
	// Output: hello! ok <nil> 0
}

func ExampleReplayer() {
	var file bytes.Buffer
	record.New(llm.Func(shout), &file).Generate(context.Background(), say("score 0.36", 1))
	model, err := record.ReplayFrom(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(model)
	_, err = model.Generate(context.Background(), say("score 0.37", 1))
	fmt.Println(err)
	fmt.Println(errors.Is(err, record.ErrNotRecorded))
	// Output:
	// Replay(a reader: 1 exchanges)
	// record: replay of a reader: request 2d722d5aebdb is not among the 1 exchanges, nor is its prompt, whose last message begins "score 0.37"
	// true
}
