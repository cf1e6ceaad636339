package js

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserve returns n bytes of zeroed memory outside Go's heap, to be given back with unreserve.
func reserve(n int) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(unsafe.Add(nil, p)), n), nil
}

// forbid makes any access to mem a fault.
func forbid(mem []byte) error { return protect(mem, windows.PAGE_NOACCESS) }

// permit undoes forbid.
func permit(mem []byte) error { return protect(mem, windows.PAGE_READWRITE) }

func protect(mem []byte, how uint32) error {
	var was uint32
	return windows.VirtualProtect(address(mem), uintptr(len(mem)), how, &was)
}

// unreserve gives back what reserve returned.
func unreserve(mem []byte) error { return windows.VirtualFree(address(mem), 0, windows.MEM_RELEASE) }

func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
