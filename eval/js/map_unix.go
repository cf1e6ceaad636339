//go:build unix

package js

import "golang.org/x/sys/unix"

// reserve returns n bytes of zeroed memory outside Go's heap, to be given back with unreserve.
func reserve(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// forbid makes any access to mem a fault.
func forbid(mem []byte) error { return unix.Mprotect(mem, unix.PROT_NONE) }

// permit undoes forbid.
func permit(mem []byte) error { return unix.Mprotect(mem, unix.PROT_READ|unix.PROT_WRITE) }

// unreserve gives back what reserve returned.
func unreserve(mem []byte) error { return unix.Munmap(mem) }
