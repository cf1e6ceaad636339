package analyze

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// surfaceTable writes the coefficients of the surface with their intervals, and the models that it must beat.
func (s *study) surfaceTable(w io.Writer) {
	if s.Surface == nil {
		return
	}
	fmt.Fprintf(w, "  surface of %s: ln(%g − mean) = b0 + a·ln T + b·ln N + c·ln T·ln N\n",
		count(len(s.Cells), "cell"), s.grid.Ceiling)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tb0\ta\tb\tc\tR²\t")
	f := s.Surface
	line(t, "fit", f.B0, f.A, f.B, f.C, f.Fit.R2)
	if i := s.Intervals; i != nil {
		line(t, "95 % from", i.B0.Low, i.A.Low, i.B.Low, i.C.Low, i.R2.Low)
		line(t, "to", i.B0.High, i.A.High, i.B.High, i.C.High, i.R2.High)
	}
	t.Flush()
	rivalsTable(w, s.Rivals)
}

// rivalsTable writes the quality of simpler models and the last one.
func rivalsTable(w io.Writer, rivals []analysis.Rival) {
	if len(rivals) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "model of\tadjusted R²\tAIC\terror on budgets left out\t")
	for _, r := range rivals {
		fmt.Fprintf(t, "%s\t%.4f\t%.1f\t%.4f\t\n", r.Name, r.Fit.AdjR2, r.Fit.AIC, r.HeldOut)
	}
	t.Flush()
}

// line writes a row of numbers with four decimals.
func line(w io.Writer, name string, values ...float64) {
	fmt.Fprintf(w, "%s\t", name)
	for _, v := range values {
		fmt.Fprintf(w, "%.4f\t", v)
	}
	fmt.Fprintln(w)
}
