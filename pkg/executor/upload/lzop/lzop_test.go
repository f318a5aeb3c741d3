package lzop

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/anchore/go-lzo"
)

// decompress reads an lzop file such as Compress writes, and refuses any other.
func decompress(file []byte) ([]byte, error) {
	signature := []byte("\x89LZO\x00\r\n\x1a\n")
	fields, ok := bytes.CutPrefix(file, signature)
	if !ok || len(fields) < 29 {
		return nil, errors.New("no header")
	}
	fields, rest := fields[:25], fields[25:]
	if binary.BigEndian.Uint32(rest) != adler32.Checksum(fields) {
		return nil, errors.New("the header's checksum is wrong")
	}
	var data []byte
	for rest = rest[4:]; ; {
		if len(rest) < 4 {
			return nil, errors.New("no end")
		}
		plain := int(binary.BigEndian.Uint32(rest))
		if plain == 0 {
			break
		}
		if len(data)%blockSize != 0 || plain > blockSize || len(rest) < 8 {
			return nil, errors.New("a block is too short or too long")
		}
		packed := int(binary.BigEndian.Uint32(rest[4:]))
		if packed > plain || len(rest)-8 < packed {
			return nil, errors.New("a compressed block is too long")
		}
		block, err := unpack(rest[8:8+packed], plain)
		if err != nil {
			return nil, err
		}
		data = append(data, block...)
		rest = rest[8+packed:]
	}
	if len(rest) != 4 {
		return nil, errors.New("something follows the end")
	}
	return data, nil
}

// unpack decompresses the body of a block.
func unpack(body []byte, plain int) ([]byte, error) {
	if len(body) == plain {
		return body, nil
	}
	block := make([]byte, plain)
	n, err := lzo.Decompress(body, block)
	if err == nil && n != plain {
		err = fmt.Errorf("a block has %d bytes instead of %d", n, plain)
	}
	return block, err
}

// check takes data to and fro.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	got, err := decompress(Compress(data))
	switch {
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case !bytes.Equal(got, data):
		t.Errorf("%s: other data came back", name)
	}
}

// random generates the same numbers every time.
func random(seed uint64) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), seed)))
}

// noise has no matches.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = random(uint64(n)).Read(b)
	return b
}

// text has many.
func text(n int) []byte {
	words := strings.Fields("the quick brown fox jumps over a lazy dog and runs through block after block of words")
	r := rand.New(random(uint64(n)))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString(" \n"[r.IntN(2):][:1])
	}
	return b.Bytes()[:n]
}

// build makes data of literals and matches as a script says, in whose instructions of four bytes are a kind, a length and a
// distance.
func build(script []byte) []byte {
	data := noise(1)
	literals := random(uint64(len(script)))
	for i := range slices.Chunk(script, 4) {
		if len(i) < 4 || len(data) > 4*blockSize {
			break
		}
		length := int(i[1])
		switch i[0] % 4 {
		case 0:
			length %= 8
		case 1:
			length *= 4
		}
		if i[0]&4 == 0 {
			run := make([]byte, length)
			_, _ = literals.Read(run)
			data = append(data, run...)
			continue
		}
		from := len(data) - 1 - int(binary.LittleEndian.Uint16(i[2:]))%len(data)
		for range length {
			data = append(data, data[from])
			from++
		}
	}
	return data
}

func executable(tb testing.TB) []byte {
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestLengths(t *testing.T) {
	for n := range 601 {
		check(t, fmt.Sprintf("noise of %d", n), noise(n))
		check(t, fmt.Sprintf("run of %d", n), make([]byte, n))
		check(t, fmt.Sprintf("noise of %d twice", n), bytes.Repeat(noise(n), 2))
		check(t, fmt.Sprintf("noise of %d, then a run", n), append(noise(n), make([]byte, 40)...))
	}
	for _, edge := range []int{1 << 10, 1 << 14, 48 << 10, 1 << 16, blockSize, 2 * blockSize, 3*blockSize + 77} {
		for n := edge - 1; n <= edge+1; n++ {
			check(t, fmt.Sprintf("noise of %d", n), noise(n))
			check(t, fmt.Sprintf("run of %d", n), bytes.Repeat([]byte("r"), n))
			check(t, fmt.Sprintf("text of %d", n), text(n))
		}
	}
}

func TestPeriods(t *testing.T) {
	for period := 1; period <= 70000; period += 1 + period/40 {
		data := bytes.Repeat(noise(period), 2+300/period)
		check(t, fmt.Sprintf("period of %d", period), data)
	}
}

func TestMatches(t *testing.T) {
	counts := []int{238, 239, 500}
	for n := range 21 {
		counts = append(counts, n)
	}
	for _, distance := range []int{1, 2, 7, 8, 9, 2047, 2048, 2049, 16383, 16384, 16385, 32767, 32768, 49151, 49152, 65535, 65536} {
		before := noise(distance + 40)
		for _, length := range []int{3, 4, 5, 8, 9, 10, 33, 34, 300} {
			for _, count := range counts {
				// A match that begins the second half, literals, and the match in question.
				data := slices.Concat(before, before[:40], noise(count))
				for range length {
					data = append(data, data[len(data)-distance])
				}
				data = append(data, noise(20)...)
				check(t, fmt.Sprintf("%d bytes at a distance of %d after %d literals", length, distance, count), data)
			}
		}
	}
}

func TestScripts(t *testing.T) {
	for seed := range uint64(6000) {
		r := random(seed)
		script := make([]byte, 4*(r.Uint64()%40))
		_, _ = r.Read(script)
		check(t, fmt.Sprintf("script of seed %d", seed), build(script))
	}
	for seed := range uint64(30) {
		script := make([]byte, 8192)
		_, _ = random(seed).Read(script)
		check(t, fmt.Sprintf("long script of seed %d", seed), build(script))
	}
}

// TestProcessors holds that the file does not depend on how many work on it.
func TestProcessors(t *testing.T) {
	data := executable(t)
	many := Compress(data)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !bytes.Equal(Compress(data), many) {
		t.Error("one processor writes another file")
	}
}

func TestBusybox(t *testing.T) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip(err)
	}
	script := make([]byte, 1<<15)
	_, _ = random(1).Read(script)
	self := executable(t)
	barely := noise(blockSize) // shrinks by some bytes only
	copy(barely[blockSize/2:], barely[blockSize/2-100:blockSize/2])
	for name, data := range map[string][]byte{
		"nothing":    {},
		"a byte":     noise(1),
		"barely":     barely,
		"a mix":      slices.Concat(text(1<<20), noise(1<<20), make([]byte, 1<<20), build(script), self[:1<<20]),
		"executable": self,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(busybox, "lzop", "-dc")
			cmd.Stdin = bytes.NewReader(Compress(data))
			got, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, data) {
				t.Error("other data came back")
			}
		})
	}
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte{})
	f.Add(text(500))
	f.Add(noise(500))
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, "as it is", data)
		check(t, "twice", slices.Concat(data, []byte("between"), data))
		check(t, "as a script", build(data))
	})
}

func BenchmarkCompress(b *testing.B) {
	data := executable(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Compress(data)
	}
}
