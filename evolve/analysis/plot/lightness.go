package plot

import (
	"image/color"
	"math"
)

// lightness returns the CIE lightness L* of c: 0 is black, 100 white, and equal steps look equal. It is what is
// left of a color in grey.
func lightness(c color.NRGBA) float64 {
	y := 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	if y <= 216.0/24389 {
		return y * 24389 / 27
	}
	return 116*math.Cbrt(y) - 16
}

// linear undoes the transfer function of sRGB (IEC 61966-2-1).
func linear(v uint8) float64 {
	f := float64(v) / 255
	if f <= 0.04045 {
		return f / 12.92
	}
	return math.Pow((f+0.055)/1.055, 2.4)
}
