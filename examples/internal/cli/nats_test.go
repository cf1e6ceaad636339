package cli

import "testing"

// A run that is resumed has the name of before, and so finds the jobs that it had queued. Another run has another
// name, and one that cannot be resumed has none.
func TestRunName(t *testing.T) {
	name := func(args ...string) string {
		o, err := parsed(args)
		if err != nil {
			t.Fatal(err)
		}
		return o.RunName()
	}
	first := name("--T", "9", "--nats", "nats://a")
	if again := name("--T", "9", "--nats", "nats://a", "--resume"); first == "" || again != first {
		t.Errorf("%q is resumed as %q", first, again)
	}
	if other := name("--T", "10", "--nats", "nats://a"); other == first {
		t.Errorf("another run is %q, too", other)
	}
	if none := name("--T", "9", "--nats", "nats://a", "--journal", ""); none != "" {
		t.Errorf("one without a journal is %q", none)
	}
}
