package population_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// sum is a task whose programs are lists of numbers, scored by minus the distance of their sum to 100.
func sum() task.Task { return runtest.Sum(task.Spec{Language: "text"}, 100) }

// adder is a model that appends to the program: a number, or a word that makes it invalid.
var adder = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	text := req.Messages[len(req.Messages)-1].Content
	if at := strings.Index(text, "Current program"); at > 0 { // after inspirations
		text = text[at:]
	}
	program, err := task.ParseProgram(text, "text")
	if err != nil {
		return llm.Reply{}, err
	}
	next := strconv.Itoa(int(req.Seed % 10))
	if next == "7" {
		next = "seven"
	}
	return llm.Reply{Text: "```text\n" + strings.TrimSpace(program) + " " + next + "\n```",
		Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
})

// search runs a population for some calls and prints what came of it.
func search(cfg population.Config, calls int) *evolve.Result {
	cfg.Task, cfg.LLM = sum(), adder
	p, err := population.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Calls: calls}})
	if err != nil {
		log.Fatal(err)
	}
	return res
}

// halves is an operator of one's own: the first half of one program and the second half of another, without a model.
type halves struct{}

func (halves) Name() string { return "halves" }

func (halves) Brief(v *population.View) evolve.Brief {
	b := v.Brief(v.Sample(v.Part.Members(), population.Uniform(), 1)...)
	first := strings.Fields(b.Request.Parents[0].Program)
	second := strings.Fields(b.Request.Parents[len(b.Request.Parents)-1].Program)
	b.Make = func(context.Context, *evolve.Work) (string, error) {
		return strings.Join(append(first[:len(first)/2:len(first)/2], second[len(second)/2:]...), " "), nil
	}
	return b
}

func ExampleOperator() {
	res := search(population.Config{N: 4, Archive: population.Top(5),
		Operators: []population.Operator{population.Rewrite{}, halves{}}}, 30)
	made := map[string]int{}
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			made[c.Operator]++
		}
	}
	fmt.Println(res.Calls, "calls:", made, "best", res.Best.Result.Score)
	// Output: 30 calls: map[halves:6 rewrite:30] best -29
}

// shortest is an archive of one's own: of each length the best program, so that short programs stay beside long ones.
type shortest struct{ members []population.Member }

func (s *shortest) Members() []population.Member { return s.members }

func (s *shortest) Add(m population.Member) bool {
	words := func(m population.Member) int { return len(strings.Fields(m.Program)) }
	i := slices.IndexFunc(s.members, func(other population.Member) bool { return words(other) == words(m) })
	switch {
	case i < 0:
		s.members = append(s.members, m)
	case m.Better(s.members[i].Candidate):
		s.members[i] = m
	default:
		return false
	}
	return true
}

func ExampleArchive() {
	own := &shortest{}
	res := search(population.Config{N: 4, Archive: own, Select: population.Uniform()}, 40)
	for _, m := range own.Members()[:4] {
		fmt.Printf("%v scores %v\n", m.Program, m.Result.Score)
	}
	fmt.Println(len(own.Members()), "lengths, best", res.Best.Result.Score)
	// Output:
	// 1 2 3 scores -94
	// 1 2 3 9 scores -85
	// 1 2 3 9 8 scores -77
	// 1 2 3 9 8 9 scores -68
	// 8 lengths, best -51
}
