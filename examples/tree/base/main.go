// Codes prints numbers, their codes, and what the codes are read as.
package main

import (
	"encoding/json"
	"os"
)

type row struct {
	Number int    `json:"number"`
	Code   string `json:"code"`
	Back   int    `json:"back"`
}

func main() {
	var rows []row
	for n := 1; n < 1_000_000; n *= 7 {
		code := encode(n)
		rows = append(rows, row{n, code, decode(code)})
	}
	_ = json.NewEncoder(os.Stdout).Encode(rows)
}
