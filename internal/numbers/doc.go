// Package numbers finds the numbers in the text of a program, and writes others in their place.
package numbers
