package searches

import (
	"strings"
	"testing"
)

// Every key does something, and is in the help.
func TestKeysAreInTheHelp(t *testing.T) {
	for _, key := range inOrder {
		if !strings.Contains(KeysHelp, "\n"+key+"=") || settings()[key] == nil {
			t.Errorf("key %s is not in the help, or does nothing", key)
		}
	}
}

// A number that would have no effect is refused, and one that is missing.
func TestNumbersOfConfigurations(t *testing.T) {
	for list, want := range map[string]string{
		"select=uniform:5": "no number", "select=best:1": "no number", "credit=rank:2": "no number",
		"archive=drift:3":  "no number",
		"archive=fronts:3": "no number", "select=epsilon": "a number", "archive=all": "a number", "credit=lift": "a number",
		"archive=top:9,select=power-law": "a number", "archive=top:9,select=tournament:2.7": "whole",
		"select=odd:1": "no number",
		"select=odd":   "unknown",
	} {
		if _, err := Configured(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
}
