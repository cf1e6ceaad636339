package sandbox

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A program builds a seccomp filter: classic BPF over struct seccomp_data, whose words are the syscall's number at
// offset 0, the architecture at 4, and the low half of argument i at 16+8i (both supported architectures are little
// endian).
type program struct{ ins []unix.SockFilter }

const (
	opLoad = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opJEq  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opJSet = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	opJGE  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opAnd  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opRet  = unix.BPF_RET | unix.BPF_K

	offNumber = 0
	offArch   = 4
)

func offArg(i int) uint32 { return uint32(16 + 8*i) }

// fail is the verdict that makes a syscall fail with errno; 0 makes it seem to succeed.
func fail(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

func (p *program) add(code uint16, k uint32, jt, jf uint8) {
	p.ins = append(p.ins, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

// begin loads the syscall's number and rejects other architectures, whose numbers have other meanings.
func (p *program) begin() {
	p.add(opLoad, offArch, 0, 0)
	p.add(opJEq, auditArch, 1, 0)
	p.add(opRet, fail(unix.ENOSYS), 0, 0)
	p.add(opLoad, offNumber, 0, 0)
	if x32Bit != 0 { // x32 numbers on amd64
		p.add(opJGE, x32Bit, 0, 1)
		p.add(opRet, fail(unix.ENOSYS), 0, 0)
	}
}

// deny gives verdict to each of the syscalls.
func (p *program) deny(verdict uint32, syscalls ...uint32) {
	for _, nr := range syscalls {
		p.add(opJEq, nr, 0, 1)
		p.add(opRet, verdict, 0, 0)
	}
}

// A test checks the last loaded argument; its jumps go to the next instruction, or over it.
type test struct {
	mask uint32 // and-ed with the argument first, unless 0
	op   uint16
	k    uint32
	not  bool
}

func is(k uint32) test           { return test{op: opJEq, k: k} }
func isNot(k uint32) test        { return test{op: opJEq, k: k, not: true} }
func hasNot(bits uint32) test    { return test{op: opJSet, k: bits, not: true} }
func masked(mask, k uint32) test { return test{mask: mask, op: opJEq, k: k} }

func maskedNot(mask, k uint32) test { return test{mask: mask, op: opJEq, k: k, not: true} }

// denyIf gives verdict to syscall nr if its argument passes any of the tests.
func (p *program) denyIf(verdict, nr uint32, arg int, tests ...test) {
	skip := len(p.ins)
	p.add(opJEq, nr, 0, 0) // patched below
	for _, t := range tests {
		p.add(opLoad, offArg(arg), 0, 0)
		if t.mask != 0 {
			p.add(opAnd, t.mask, 0, 0)
		}
		if t.not {
			p.add(t.op, t.k, 1, 0)
		} else {
			p.add(t.op, t.k, 0, 1)
		}
		p.add(opRet, verdict, 0, 0)
	}
	p.add(opLoad, offNumber, 0, 0)
	p.ins[skip].Jf = uint8(len(p.ins) - skip - 1)
}

// denyUnless gives verdict to syscall nr if its argument has any of the bits of mask, unless these are
// exactly those of but.
func (p *program) denyUnless(verdict, nr uint32, arg int, mask, but uint32) {
	p.add(opJEq, nr, 0, 6)
	p.add(opLoad, offArg(arg), 0, 0)
	p.add(opAnd, mask, 0, 0)
	p.add(opJEq, 0, 2, 0)
	p.add(opJEq, but, 1, 0)
	p.add(opRet, verdict, 0, 0)
	p.add(opLoad, offNumber, 0, 0)
}

// end allows all other syscalls and returns the filter.
func (p *program) end() []unix.SockFilter {
	p.add(opRet, unix.SECCOMP_RET_ALLOW, 0, 0)
	return p.ins
}

// encode returns a filter in the kernel's encoding.
func encode(ins []unix.SockFilter) []byte {
	b := make([]byte, 0, 8*len(ins))
	for _, i := range ins {
		b = binary.LittleEndian.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}
