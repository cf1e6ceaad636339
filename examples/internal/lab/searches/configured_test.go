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
