package evolve_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// To read a run that is over takes none of the run's own time, however often it is read.
func TestElapsedOfARunThatIsReadAgain(t *testing.T) {
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) {
		read := func() time.Duration {
			j := openJournal(t, path)
			defer j.Close()
			time.Sleep(20 * time.Millisecond)
			g := newNoisy(t, population.Config{Task: newNumbers(t, "0"), LLM: climber, N: 4})
			return mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 8}, Journal: j}).Elapsed
		}
		made := read()
		for range 3 {
			if again := read(); again != made || made != 20*time.Millisecond {
				t.Errorf("read again, the run took %v; made, it took %v", again, made)
			}
		}
	})
}
