package main

const digits = "0123456789abcdefghijklmnopqrstuv"

// encode returns n in base 32.
func encode(n int) string {
	code := ""
	for ; n > 0; n /= 32 {
		code += string(digits[n%32])
	}
	return code
}
