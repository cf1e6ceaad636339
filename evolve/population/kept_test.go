package population

import (
	"fmt"
	"strings"
	"testing"
)

// What is kept is returned once, and is bounded where programs are never taken in.
func TestKept(t *testing.T) {
	var k kept[int]
	k.put("a", 1)
	if v := k.take("a", func() int { return 2 }); v != 1 {
		t.Errorf("kept %d, want what was put", v)
	}
	if v := k.take("a", func() int { return 2 }); v != 2 {
		t.Errorf("the second time %d, want it to be worked out", v)
	}
	long := strings.Repeat("x", 1<<20)
	for i := range 100 {
		k.put(fmt.Sprint(i, long), i)
		if n := len(k.of); n<<20 > maxKeptBytes {
			t.Fatalf("%d programs of 1 MiB are kept, want at most %d bytes", n, maxKeptBytes)
		}
	}
	for i := range 2 * maxKept {
		k.put(fmt.Sprint(i), i)
		if n := len(k.of); n > maxKept {
			t.Fatalf("%d short programs are kept, want at most %d", n, maxKept)
		}
	}
}
