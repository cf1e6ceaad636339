// Package compare plays searches against each other, at equal calls or at equal FLOPs, on paired seeds, over families
// of landscapes whose true scores are known.
//
// A [Family] makes a [Problem] from a seed: a task, and a stand-in for a language model that sees the prompt's text
// and nothing else. A [Search] makes the arms and the policy of one [evolve.Run] for it. [Study] plays every search on
// every problem, and [Against] says by how much one search ends above another, and how surely. Searches are run as
// they are elsewhere: prompts, replies, archives and budgets are the real ones, and only the model and the evaluators
// are small.
//
// What a search gains on these families tells where its parts can help at all. It does not tell how often real tasks
// are like one family or another.
package compare
