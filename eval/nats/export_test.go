package nats

// KeyOf returns the key of a program's result.
func KeyOf(program string) string { return keyOf("", program, 0) }
