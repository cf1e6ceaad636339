package js

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// The functions do what those of map_unix.go do.

func reserve(n int) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(unsafe.Add(nil, p)), n), nil
}

func forbid(mem []byte) error { return protect(mem, windows.PAGE_NOACCESS) }
func permit(mem []byte) error { return protect(mem, windows.PAGE_READWRITE) }

func protect(mem []byte, how uint32) error {
	return windows.VirtualProtect(uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)), how, new(uint32))
}

func unreserve(mem []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(&mem[0])), 0, windows.MEM_RELEASE)
}
