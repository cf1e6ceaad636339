package python

import "bytes"

// nonceSize is the length of the random word that begins every message from a candidate's process. Without the word,
// bytes that a candidate writes to all its descriptors could pass for a message.
const nonceSize = 16

// A home receives the messages of a candidate's process. If the candidate may have other processes, the kernel names
// the sender of the first message, which is sent before any code of the candidate runs. Only that process is believed.
// Messages of others are dropped, even if they know the nonce.
type home struct {
	nonce    []byte
	attested bool
	pid      int32
	data     []byte // not yet parsed
	stages   int    // stages announced as done
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

// message returns the last message of a process that ended by itself.
func (h *home) message() (manner, []byte) {
	switch kind, body := h.kind(); kind {
	case 'R':
		return returned, body
	case 'F':
		return failed, body
	}
	return ended, nil
}
