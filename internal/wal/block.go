package wal

import (
	"io"
	"sync"
)

// blockSize is how many bytes a block has, and a divisor of where it begins.
const blockSize = 1 << 17

// A block is a part of a log that was read at once, because lines near each other are asked for. A system call for each
// line would be a tenth of the time in which a run is made again. What was appended stays as it is, and so does a
// block.
type block struct {
	mu   sync.Mutex
	near int64  // number of the block in which a line was asked for last
	from int64  // where data begins
	data []byte // shorter than blockSize where the log ended
}

// holds fills line with what f has from offset on, if that is in the block, or in another that is worth reading: lines
// in it, or in the one beside it, were asked for last. It reports whether it did. Before end all lines are whole.
func (b *block) holds(f io.ReaderAt, end int64, line []byte, offset int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	number := offset / blockSize
	near := number-b.near <= 1 && b.near-number <= 1
	b.near = number
	if b.copy(line, offset) {
		return true
	}
	from := number * blockSize
	if !near || offset+int64(len(line)) > min(from+blockSize, end) {
		return false
	}
	if b.data == nil {
		b.data = make([]byte, blockSize)
	}
	// after an error the caller reads the line alone, and learns of it
	n, _ := f.ReadAt(b.data[:min(blockSize, end-from)], from)
	b.from, b.data = from, b.data[:n]
	return b.copy(line, offset)
}

// copy fills line, if it is in the block.
func (b *block) copy(line []byte, offset int64) bool {
	at := offset - b.from
	if at < 0 || at+int64(len(line)) > int64(len(b.data)) {
		return false
	}
	copy(line, b.data[at:])
	return true
}
