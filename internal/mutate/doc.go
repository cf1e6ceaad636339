// Package mutate changes programs and other texts at random, blind to what they are worth: the numbers of a program in
// any language, the structure of one in JavaScript, the lines of a prompt, or a part of one program for a part of
// another. It is what stand-ins for language models are made of.
//
// All randomness comes from a [Draw], so that equal arguments and draws give equal results. Recorded runs rely on that:
// a change of what is drawn, or in which order, changes what they repeat.
package mutate
