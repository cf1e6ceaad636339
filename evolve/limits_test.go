package evolve

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
)

// Each field of a Budget is a limit of the table, but those that say what others cost.
func TestEveryLimitHasARow(t *testing.T) {
	var fields, rows []string
	for f := range reflect.TypeFor[Budget]().Fields() {
		if f.Name != "Models" && f.Name != "EvalWorst" {
			fields = append(fields, f.Name)
		}
	}
	for _, l := range Limits() {
		rows = append(rows, l.Name)
	}
	slices.Sort(fields)
	slices.Sort(rows)
	if !slices.Equal(fields, rows) {
		t.Errorf("Budget has %v, the table %v", fields, rows)
	}
}

// Each amount that is set aside is added, taken away, shown and limited as itself and nothing else.
func TestEveryAmountIsCounted(t *testing.T) {
	for f := range reflect.TypeFor[books.Amounts]().Fields() {
		if f.Name == "Stalls" { // the Ledger counts them apart
			continue
		}
		set := func(v any, n int64) {
			if x := reflect.ValueOf(v).Elem().FieldByName(f.Name); x.CanInt() {
				x.SetInt(n * 1e9)
			} else {
				x.SetFloat(float64(n) * 1e9)
			}
		}
		var a, b, sum, rest step.Amounts
		set(&a, 5)
		set(&b, 3)
		set(&sum, 8)
		set(&rest, 2)
		if got := a.Plus(b); got != sum {
			t.Errorf("%s: 5+3 is %+v", f.Name, got)
		}
		if got := a.Minus(b); got != rest {
			t.Errorf("%s: 5-3 is %+v", f.Name, got)
		}
		var budget Budget
		set(&budget, 4)
		for i, l := range budget.limits(a) {
			own := l.Name == f.Name
			if l.passed() != own {
				t.Errorf("5 of 4 %s: %s is passed: %v", f.Name, l.Name, !own)
			}
			if budget.limits(b)[i].passed() {
				t.Errorf("3 of 4 %s passes %s", f.Name, l.Name)
			}
			if shown := l.Amount(a) != 0; shown != own {
				t.Errorf("%s is shown as %s: %v", f.Name, l.Name, shown)
			}
		}
	}
}

// Limits are printed in fingerprints as journals have them: whole numbers without exponents, others as %v does.
func TestPrintedLimits(t *testing.T) {
	target := 0.0
	f := Budget{Calls: 2_000_000, Tokens: 1 << 52, FLOPs: 2e18, Money: 1e6, EvalTime: 100 * time.Millisecond,
		WallTime: 26*time.Hour + 3*time.Nanosecond, Target: &target}.fingerprint()
	for name, want := range map[string]string{"Calls": "2000000", "Tokens": "4503599627370496", "FLOPs": "2e+18",
		"Money": "1e+06", "EvalTime": "100ms", "WallTime": "26h0m0.000000003s", "Target": "0", "Stalls": "200000",
		"Patience": "none", "EvalWorst": "none", "TuneEvaluations": ""} {
		if got := f["Budget."+name]; got != want {
			t.Errorf("%s is printed as %q, want %q", name, got, want)
		}
	}
}
