package main

import "strings"

// decode returns the number that encode made a code of.
func decode(code string) int {
	n := 0
	for i := len(code) - 1; i >= 0; i-- {
		n = n*32 + strings.IndexByte(digits, code[i])
	}
	return n
}
