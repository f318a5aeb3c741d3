package executor

import (
	"strings"
	"testing"
)

func TestStatusLine(t *testing.T) {
	const word = "w0rd"
	for name, c := range map[string]struct{ stream, want string }{
		"alone":                    {"\nw0rd 0\n", "0"},
		"after what was not ended": {"done\nw0rd 0\n", "0"},
		"before what comes later":  {"x\nw0rd 17\nlate\n\nw0rd 0\n", "17"},
		"after what looks like it": {"w0rd 1\n w0rd 2\n\nw0r\n\nw0rd\n\n\nw0rd 3\n", "3"},
		"after very much":          {strings.Repeat("\nw0rd", 1<<12) + "\nw0rd 255\n", "255"},
		"not ended":                {"\nw0rd 0", ""},
		"not at the beginning":     {"here w0rd 0\n", ""},
		"nothing":                  {"", ""},
	} {
		for size := 1; size <= max(1, min(len(c.stream), 64)); size++ {
			calls := 0
			l := &statusLine{begins: []byte("\n" + word + " "), told: func() { calls++ }}
			for rest := c.stream; rest != ""; {
				n := min(size, len(rest))
				if written, err := l.Write([]byte(rest[:n])); written != n || err != nil {
					t.Fatal(written, err)
				}
				rest = rest[n:]
			}
			if want := min(1, len(c.want)); l.status() != c.want || calls != want {
				t.Errorf("%s, %d bytes at a time: %q, told %d times", name, size, l.status(), calls)
			}
			if len(l.kept) > 2*len(word)+size {
				t.Errorf("%s, %d bytes at a time: %d are kept", name, size, len(l.kept))
			}
		}
	}
}
