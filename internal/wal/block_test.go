package wal

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// Lines are read as they were appended, in whatever order, while others are appended.
func TestReadAnyOrder(t *testing.T) {
	l, err := Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	var places []Place
	var want []string
	check := func(i int) {
		t.Helper()
		object, err := l.Read(places[i])
		if err != nil || string(object) != want[i] {
			t.Fatalf("line %d is %.60s, %v, want %.60s", i, object, err, want[i])
		}
	}
	for i := range 1500 {
		text := strings.Repeat("x", rng.IntN(2000))
		p, err := l.Append(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		places, want = append(places, p), append(want, fmt.Sprintf(`{"i":%d,"text":"%s"}`, i, text))
		check(i)                         // the last one, each time
		check(rng.IntN(i + 1))           // any
		check(max(0, i-rng.IntN(i+1)%9)) // one of the last
	}
	for i := range places { // all in order, over several blocks
		check(i)
	}
}
