package printable

import "strings"

// Field returns s as a field of a CSV file that no spreadsheet takes for a formula and runs: after an apostrophe if it
// begins as a formula does.
func Field(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}
