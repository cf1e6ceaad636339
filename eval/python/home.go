package python

import "bytes"

// nonceSize is the length of the random word with which every message from a candidate's process begins.
// Without it, bytes that a candidate writes into all its descriptors could be taken for a message.
const nonceSize = 16

// A home takes what a candidate's process sends. If the candidate may have other processes, the kernel says
// which process sent the first message, which comes before any code of the candidate runs. Only that process is
// believed. What others send is dropped, even if they know the nonce.
type home struct {
	nonce    []byte
	attested bool
	pid      int32
	data     []byte // not yet understood
	stages   int    // how many stages were announced to be done
}

func (h *home) take(data []byte, pid int32) {
	if h.pid == 0 {
		h.pid = pid
	}
	if h.attested && pid != h.pid {
		return
	}
	h.data = append(h.data, data...)
	for {
		kind, rest := h.kind()
		switch kind {
		case 'S':
			h.stages++
		case 'H':
		default:
			return
		}
		h.data = rest
	}
}

// kind returns the first message's kind and what follows it, or 0 if there is no message.
func (h *home) kind() (byte, []byte) {
	rest, ok := bytes.CutPrefix(h.data, h.nonce)
	if !ok || len(rest) == 0 {
		return 0, nil
	}
	return rest[0], rest[1:]
}

// message returns the last message of a process that has ended by itself.
func (h *home) message() (manner, []byte) {
	switch kind, body := h.kind(); kind {
	case 'R':
		return returned, body
	case 'F':
		return failed, body
	}
	return ended, nil
}
