//go:build soak

package notrun

// Soak reports whether tests run at full length: they are built with the tag soak.
const Soak = true
