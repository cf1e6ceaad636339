package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// Salvage copies the sound part of a damaged journal, up to the first damaged line, to a new file, from which
// the run can be resumed. It returns how many records it copied, and the damage at which it stopped, or nil if
// there was none. What stood after the damage is lost to the run, which asks for it again.
//
// Lines after the damage are not copied even if they are sound, because they may follow from what is gone. The
// damaged file is left as it is.
func Salvage(from, to string) (records int, damage error, err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, nil, fmt.Errorf("journal: salvaging %s: %w", from, err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(to) // err says what matters
		}
	}()
	w := bufio.NewWriter(out)
	for e, bad := range record.Lines(from) {
		if bad != nil {
			damage = bad
			break
		}
		if err := e.Copy(w); err != nil {
			return records, nil, fmt.Errorf("journal: salvaging %s: %w", from, err)
		}
		records++
	}
	var torn *wal.DamageError
	if damage != nil && !errors.As(damage, &torn) {
		return records, nil, fmt.Errorf("journal: salvaging %s: %w", from, damage)
	}
	if err := errors.Join(w.Flush(), out.Sync()); err != nil {
		return records, damage, fmt.Errorf("journal: salvaging %s: %w", from, err)
	}
	return records, damage, nil
}
