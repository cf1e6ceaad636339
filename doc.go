// Package evoalloc is the root of a library that evolves programs with language models and decides
// where each model call goes: several searches run side by side, a bandit gives the next generation
// to the one that deserves it, and every call is accounted for in FLOPs, tokens and money. It follows
// "Compute Allocation in Evolutionary Search: From Depth–Breadth to Multi-Armed Bandits" (BaSE, arXiv
// 2605.29268).
//
// A whole run, with a model that needs no network:
//
//	runner, err := js.New(js.Config{})
//	cp, err := geometry.CirclePacking().Task(runner, "javascript")
//	model, err := offline.New(offline.Config{})
//	result, err := evolve.Evolve(ctx, cp, model, 500) // of so many calls
//
// This package holds only this page. The rooms of the house, from the ground up:
//
//	llm                  models, with limits and retries; below it endpoints, pools, a gateway, stand-ins
//	eval                 evaluators of hostile programs; below it JavaScript, Python, commands, clocks, other machines
//	task                 what to improve, and how to score it; below it tasks, and folders with an evaluator.py
//	flops                what attempts cost, under each rule
//	bandit               policies, one a file; below it what each must hold, and simulated arms
//	evolve               arms, turns, budgets, runs; below it the journal, populations, presets, agents
//	evolve/history, ...  what a run was, its result file (result), and readings: report, a page (view), replay, analysis
//	evolve/sweep         grids of runs
//	examples             programs to copy from, and the tool
//
// What holds everywhere: a bad candidate is data, and an error is infrastructure. Every attempt is
// recorded, however it ended. Seeds are addressed, so that scheduling cannot change a result when the
// replies are the same, one arm is in flight and children are taken by index. A child is scored as soon
// as its reply is parsed. Why a run stopped is a value. No NaN or Inf travels.
package evoalloc
