// Package lzop compresses in the format of the program lzop, whose decompressor in busybox is several times as fast as gunzip.
package lzop

import (
	"encoding/binary"
	"hash/adler32"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// blockSize is what lzop uses. Decompressors take it without a larger buffer.
const blockSize = 256 << 10

// Compress returns data as an lzop file: a header, independent blocks, each as an LZO1X stream or, where that is no shorter, as
// it is, and four zero bytes. There are no checksums but the header's, so the reader must verify what comes out.
//
// The values of the container are those that busybox's lzop checks, the ones of the stream those of "LZO stream format as
// understood by Linux's LZO decompressor" in the kernel's documentation (Documentation/staging/lzo.rst).
func Compress(data []byte) []byte {
	parts := [][]byte{header()}
	parts = append(parts, pack(slices.Collect(slices.Chunk(data, blockSize)))...)
	parts = append(parts, make([]byte, 4))
	return slices.Concat(parts...)
}

// header is the beginning of the file. Its checksum leaves out the signature.
func header() []byte {
	fields := []byte{
		0x10, 0x30, // version of the program: 1.03
		0x20, 0xa0, // version of the library: 2.10
		0x09, 0x40, // version needed to extract: the first with such a header
		1,             // method: LZO1X-1
		5,             // level, on which nothing depends
		0x03, 0, 0, 0, // flags: made under Unix, without any checksum of the blocks
		0, 0, 0x81, 0xa4, // mode: a regular file, 0644
		0, 0, 0, 0, 0, 0, 0, 0, // modification time, in two halves
		0, // length of the name
	}
	file := append([]byte("\x89LZO\x00\r\n\x1a\n"), fields...)
	return binary.BigEndian.AppendUint32(file, adler32.Checksum(fields))
}

// pack compresses blocks on all processors.
func pack(blocks [][]byte) [][]byte {
	packed := make([][]byte, len(blocks))
	var taken atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(blocks)) {
		workers.Go(func() {
			var e encoder
			for i := taken.Add(1) - 1; i < int64(len(blocks)); i = taken.Add(1) - 1 {
				packed[i] = packBlock(&e, blocks[i])
			}
		})
	}
	workers.Wait()
	return packed
}

// packBlock compresses a block and puts its two lengths before it.
func packBlock(e *encoder, block []byte) []byte {
	body := e.compress(block)
	if len(body) >= len(block) {
		body = block
	}
	packed := make([]byte, 0, 8+len(body))
	for _, n := range []int{len(block), len(body)} {
		packed = binary.BigEndian.AppendUint32(packed, uint32(n)) //nolint:gosec // neither is longer than a block
	}
	return append(packed, body...)
}
