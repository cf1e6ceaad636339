// Package evoalloc is the root of a library that evolves programs with language models and decides
// where each model call goes: several searches run side by side, a bandit gives the next generation
// to the one that deserves it, and every call is accounted for in FLOPs, whether it ended well or
// not. It follows "Compute Allocation in Evolutionary Search: From Depth–Breadth to Multi-Armed
// Bandits" (BaSE, arXiv 2605.29268).
//
// This package holds nothing but this page. The others are plain Go values that fit together:
//
//	task.Task ───────────┐  what to improve, and how to score it
//	llm.LLM ─────────────┤  who proposes
//	                     ▼
//	       evolve.Greedy, population.Population, yours     an Arm: one search, advanced a step at a time
//	                     ▲  │ briefs                      ▲
//	                     │  ▼                             │ Turn: budget, journal, memory of programs
//	              evolve.Breeder ──── Turn.Ask, Turn.Evaluate
//	                     ▲  │ Generation
//	              Step   │  ▼ reward
//	bandit.Policy ──► evolve.Run              draws an arm, steps it, reports, until the Budget ends
//	                     │
//	                     ▼
//	   journal (what was paid for, and decided)     flops (what it cost)     Result ─► report
//
// A whole run, with a model that needs no network:
//
//	runner, err := js.New(js.Config{})
//	cp, err := geometry.CirclePacking().Task(runner, "javascript")
//	model, err := offline.New(offline.Config{})
//	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: cp, LLM: model, Breadth: evolve.Adaptive{}, Seed: 40}, 10)
//	result, err := evolve.Run(ctx, evolve.Config{
//		Arms:   arms,
//		Policy: &bandit.ExpectedImprovement{T: 4096},
//		Budget: evolve.Budget{Calls: 4096},
//	})
//
// # The parts
//
// Package task says what there is to improve: an initial program, a prompt, a parser for replies, and
// an evaluator. task.New makes one of a Spec; task/geometry has circle packing, min/max distance and
// the Heilbronn triangle, task/packing has online bin packing, task/text has prompts as programs, and task/folder
// loads folders with an initial program and an evaluator.py.
//
// Package eval scores programs. Candidates are hostile until shown otherwise: a Runner returns data,
// and eval.Scored computes the score where the program cannot reach. eval/js runs JavaScript in this
// process, with limits; eval/python forks warm interpreters, and eval/command runs any other language,
// both contained by what the kernel has. A bad program is a Result with a Reason. An error is a fault of the
// infrastructure.
//
// Package llm is the model's side: one method, and values that limit and retry. llm/openai speaks to any
// OpenAI-compatible endpoint, llm/pool spreads calls over replicas of a model, llm/ensemble lets a bandit
// choose between models, llm/offline stands in without a model, llm/llmtest is a real server to test
// against, with faults on request.
//
// Package bandit has the policies. A Policy returns the chance of each arm, so that floors and
// mixtures are one line and propensities are known; a Player draws. A type with two methods is a new
// policy. bandit/bandittest checks what it must hold, in its tests; bandit/sim compares it with others
// on simulated arms, bandit/replay on logged ones.
//
// Package evolve has the searches and the allocator, which is itself an Arm, so allocators nest. What a step
// asks goes through its Turn, so that no call is missing in the account. A search of one's own embeds a
// Breeder, which keeps every rule that a search has to keep. evolve/journal makes a run durable: killed at any
// instant it goes on, and pays for nothing twice. evolve/report writes results as JSON. evolve/lineage writes which
// programs came from which, as a git repository or a graph.
//
// evolve/population has searches that keep many programs, of parts that are values: archives, selectors, operators,
// gates, memories. evolve/sweep makes grids of runs, evolve/analysis turns runs into comparisons and fits with
// intervals, evolve/analysis/plot draws them, and evolve/advise looks for the best split of a budget while it is spent.
// evolve/compare plays searches against each other without a model.
//
// Package flops charges attempts: 2 · active parameters · (prompt − cached + completion), and a rule
// for those that timed out without saying what they used.
//
// # What holds everywhere
//
// A bad candidate is data; an error is infrastructure. Every attempt is recorded, however it ended.
// Seeds are addressed, never drawn in passing, so scheduling cannot change a result when the replies
// are the same, one arm is in flight and children are taken by index. A child is scored as soon as its
// reply is parsed. Why a run stopped is a value. No NaN or Inf travels.
package evoalloc
