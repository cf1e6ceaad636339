// Package layers searches in two stages: first for programs, the bases, and then for a program that combines a frozen
// pool of them: a router, weights. It pays where no one program is good everywhere and it is easy to see which is good
// where. Layered evolution is CORAL's proposal; see docs/guide.md.
//
// [Layers] is an [evolve.Arm], so that one run, one budget and one journal hold both stages. [Regress] makes a first
// router of the scores by case that stage one has left.
package layers
