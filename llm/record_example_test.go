package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/llm"
)

func say(text string, seed uint32) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}, Seed: seed}
}

func ExampleKey() {
	fmt.Println(llm.Key(llm.Request{Messages: []llm.Message{{Role: "user", Content: "x"}}, Seed: 7}))
	// Output: 7ae954e4ef970c6aa96e23f491d5bbc0fee1ece8409bf423d37551c24c6ae410
}

func ExampleCanonical() {
	req := say("let x = \"1\";\n", 40)
	req.Temperature = new(0.4)
	fmt.Printf("%s\n", llm.Canonical(req))
	// Output: {"messages":[{"content":"let x = \"1\";\n","role":"user"}],"seed":40,"temperature":0.4}
}

func ExampleRecorder() {
	dir, err := os.MkdirTemp("", "evoalloc")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	recorder, err := llm.RecordFile(llm.Func(shout), filepath.Join(dir, "run.jsonl"))
	if err != nil {
		panic(err)
	}
	recorder.Generate(context.Background(), say("hello", 1))
	if err := recorder.Close(); err != nil {
		panic(err)
	}
	again, err := llm.Replay(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		panic(err)
	}
	reply, err := again.Generate(context.Background(), say("hello", 1))
	fmt.Println(reply.Text, reply.Attempts[0].Status, err, again.Left())
	// Output: hello! ok <nil> 0
}

func ExampleReplayer() {
	var file bytes.Buffer
	llm.Record(llm.Func(shout), &file).Generate(context.Background(), say("score 0.36", 1))
	model, err := llm.ReplayFrom(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(model)
	_, err = model.Generate(context.Background(), say("score 0.37", 1))
	fmt.Println(err)
	fmt.Println(errors.Is(err, llm.ErrNotRecorded))
	// Output:
	// Replay(a reader: 1 exchanges)
	// llm: replay of a reader: request 2d722d5aebdb is not in the recording; the nearest of 1 (line 1) has "score 0.36" instead of "score 0.37" in message 1 (user), line 1, byte 9
	// true
}
