package lzop

import (
	"encoding/binary"
	"math/bits"
)

// What the instructions for matches can say, and the first byte of each. Those for shorter matches are not used.
const (
	near         = 0x40
	nearDistance = 2048
	nearLength   = 8

	middle         = 0x20
	middleDistance = 16384
	middleMask     = 31 // the bits of the first byte that hold the length

	far         = 0x10
	farDistance = 49151
	farMask     = 7
)

const (
	// wordSize is how many bytes are compared at once. The last word of a block is where the search ends.
	wordSize = 8
	// shortest is the length of the shortest match that is taken, the least for which every instruction is shorter.
	shortest = 4
	// hashed is how many bytes of a word make its hash. Shorter matches are found by luck only: an executable so gets fewer and
	// longer ones, which is faster on both sides and costs little.
	hashed = 6
	// tableBits keeps the table small enough to stay, beside the window, in the processor's nearest cache.
	tableBits = 13
	// patience is the logarithm of how many words are looked up before the steps from one to the next grow by a byte.
	patience = 5
)

// encoder compresses one block after the other.
type encoder struct {
	packed []byte
	// seen has the last position of a word with a hash, in 16 bits: a match within reach needs no more. An entry that was never
	// set or is out of reach leads to any word, though never to one before the block, and does no harm, since words are compared.
	seen [1 << tableBits]uint16
}

// compress returns the stream of a block. It is valid until the next one.
func (e *encoder) compress(block []byte) []byte {
	clear(e.seen[:])
	e.packed = e.packed[:0]
	done := 0
	for {
		at, distance := e.search(block, done)
		if distance == 0 {
			break
		}
		end := at + shortest + common(block[at+shortest:], block[at+shortest-distance:])
		for at > done && at > distance && block[at-1] == block[at-1-distance] {
			at--
		}
		e.literals(block[done:at])
		e.match(distance, end-at)
		done = end
		e.see(block, done-2)
	}
	e.literals(block[done:])
	// The end is a far match that has no distance.
	return append(e.packed, far|1, 0, 0)
}

// search finds the first match at a position or after it. Without one the distance is 0. The longer it has found nothing, the
// more it leaves out, so that data without matches are passed quickly.
func (e *encoder) search(block []byte, from int) (at, distance int) {
	at = from
	for step := 1 << patience; at+wordSize <= len(block); step++ {
		word := load(block, at)
		entry := &e.seen[hash(word)]
		distance := int(low16(at) - *entry)
		*entry = low16(at)
		if uint(distance-1) < farDistance && (word^load(block, at-distance))<<(64-8*shortest) == 0 {
			return at, distance
		}
		at += step >> patience
	}
	return at, 0
}

// see remembers the word at a position.
func (e *encoder) see(block []byte, at int) {
	if at+wordSize <= len(block) {
		e.seen[hash(load(block, at))] = low16(at)
	}
}

// literals writes bytes that no match covers. Up to three go into the low bits of the match before, which are in the last byte
// but one.
func (e *encoder) literals(b []byte) {
	switch n := len(b); {
	case n == 0:
		return
	case len(e.packed) == 0 && 17+n <= 255:
		e.packed = append(e.packed, low8(17+n))
	case n <= 3:
		e.packed[len(e.packed)-2] |= low8(n)
	case n <= 18:
		e.packed = append(e.packed, low8(n-3))
	default:
		e.packed = append(e.packed, 0)
		e.rest(n - 18)
	}
	e.packed = append(e.packed, b...)
}

// match writes the instruction that repeats length bytes.
func (e *encoder) match(distance, length int) {
	switch {
	case distance <= nearDistance && length <= nearLength:
		distance--
		e.packed = append(e.packed, low8((length-1)<<5|distance&7<<2), low8(distance>>3))
	case distance <= middleDistance:
		e.long(middle, middleMask, distance-1, length)
	default:
		distance -= middleDistance
		e.long(far|low8(distance>>14<<3), farMask, distance, length)
	}
}

// long writes an instruction whose length may be of any size.
func (e *encoder) long(first byte, mask, distance, length int) {
	if length -= 2; length <= mask {
		e.packed = append(e.packed, first|low8(length))
	} else {
		e.packed = append(e.packed, first)
		e.rest(length - mask)
	}
	e.packed = append(e.packed, low8(distance<<2), low8(distance>>6))
}

// rest writes what the first byte of an instruction could not hold of a length.
func (e *encoder) rest(n int) {
	for ; n > 255; n -= 255 {
		e.packed = append(e.packed, 0)
	}
	e.packed = append(e.packed, low8(n))
}

// hash mixes the first bytes of a word.
func hash(word uint64) uint64 {
	return word << (64 - 8*hashed) * 0x9e3779b97f4a7c15 >> (64 - tableBits)
}

// low8 is the low byte of n.
func low8(n int) byte {
	return byte(n & 0xff)
}

// low16 is the two low bytes of n.
func low16(n int) uint16 {
	return uint16(n & 0xffff)
}

// load reads a word.
func load(b []byte, at int) uint64 {
	return binary.LittleEndian.Uint64(b[at : at+wordSize])
}

// common counts the bytes with which both a and b begin. a is the shorter one.
func common(a, b []byte) int {
	n := 0
	for ; n+wordSize <= len(a); n += wordSize {
		if differing := load(a, n) ^ load(b, n); differing != 0 {
			return n + bits.TrailingZeros64(differing)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}
