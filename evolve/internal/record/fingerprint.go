package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// compare returns an error that says in which fields the fingerprint now differs from then, which stands in the record
// of this number.
func compare(record int, then, now map[string]string) error {
	both := make(map[string]string)
	maps.Copy(both, then)
	maps.Copy(both, now)
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if then[name] != now[name] {
			fields = append(fields, fmt.Sprintf("%s is %q, this run's %q", name, then[name], now[name]))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("%w: record %d: %s: put that back, or begin anew with another journal",
		ErrDiverged, record, strings.Join(fields, "; "))
}
