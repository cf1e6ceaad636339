package plot

import "image/color"

// ramp returns the color of v in [0, 1], from light to dark, so that what is best stands out on paper and
// nothing is as light as the paper itself. Lightness falls evenly, so the ramp reads the same in grey.
func ramp(v float64) color.NRGBA {
	stops := []color.NRGBA{
		{0xF4, 0xEB, 0xB8, 0xFF},
		{0xA9, 0xCF, 0xA0, 0xFF},
		{0x5A, 0xA8, 0xA0, 0xFF},
		{0x2F, 0x76, 0x9B, 0xFF},
		{0x25, 0x3A, 0x78, 0xFF},
	}
	at := min(max(v, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	f, from, to := at-float64(i), stops[i], stops[i+1]
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + f*(float64(b)-float64(a)) + 0.5) }
	return color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xFF}
}

// over returns the color of text that is read on c: ink on light colors and white on dark ones.
func over(c color.NRGBA) color.NRGBA {
	if lightness(c) < 60 {
		return paper
	}
	return ink
}
