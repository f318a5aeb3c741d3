package policy

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// patternAfter is the regular expression that follows a text in a file of the pack.
func patternAfter(t *testing.T, file, text string) *regexp.Regexp {
	t.Helper()
	_, pattern, found := strings.Cut(readPack(t, file), text+"`")
	pattern, _, ends := strings.Cut(pattern, "`")
	if !found || !ends {
		t.Fatalf("%s has no pattern after %s", file, text)
	}
	return regexp.MustCompile(pattern)
}

// TestDaemonFlags holds the evaluator's search for a daemon's flags against the pattern of lib/engines.rego, on lines of pieces
// that matter to either.
func TestDaemonFlags(t *testing.T) {
	flags := patternAfter(t, "lib/engines.rego", "flag_pattern := ")
	pieces := append([]string{" ", "\t", "\n", "\f", "\r", "\v", "=", "\"", "'", ";", "&", "|", ")", "-", "unix:///a", "1000", "\xff", "é"}, daemonFlagNames[:]...)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var line strings.Builder
		for range random.IntN(12) {
			line.WriteString(pieces[random.IntN(len(pieces))])
		}
		var want []daemonFlag
		for _, match := range flags.FindAllStringSubmatch(line.String(), -1) {
			want = append(want, daemonFlag{match[1], match[2]})
		}
		if got := daemonFlags(line.String()); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, not %q", line.String(), got, want)
		}
	}
}
