// Package plot draws the figures of a study of searches, as SVG and PNG: [Surface], [Envelope], [Curves],
// [Profiles], [Pulls] and [Regret]. Each is a struct of plain values with a Draw method, in a file of its own,
// and what a figure shows is in its fields alone.
//
// Every figure says of how many runs it is and what its intervals are, and Draw refuses one that does not. The
// same values make the same bytes. Lines differ in lightness, dash and marker, so that they are told apart in
// grey and with any color vision.
//
// The package is a leaf: it compiles gonum.org/v1/plot with its fonts and formats, so nothing but programs and
// tests imports it.
package plot
