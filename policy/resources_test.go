package policy

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestBoundingQuantities holds what counts as a limit against the API's own reading of a quantity, and the evaluator against the pattern of
// lib/review.rego on anything.
func TestBoundingQuantities(t *testing.T) {
	source, err := os.ReadFile("lib/review.rego")
	if err != nil {
		t.Fatal(err)
	}
	_, pattern, _ := strings.Cut(string(source), "regex.match(`^\\+")
	pattern, _, _ = strings.Cut(pattern, "`")
	inRego := regexp.MustCompile(`^\+` + pattern)
	pieces := []string{"0", "0", "0", "1", "9", "500", ".", "+", "-", "e", "E", "m", "n", "k", "Gi", "x", " "}
	random := rand.New(rand.NewPCG(1, 2))
	read := map[bool]int{}
	for range 200_000 {
		var text strings.Builder
		for range random.IntN(6) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		got := bounds(text.String())
		if want := inRego.MatchString(text.String()); got != want {
			t.Fatalf("%q bounds: %t, in Rego %t", text.String(), got, want)
		}
		if quantity, err := resource.ParseQuantity(text.String()); err == nil {
			read[quantity.Sign() > 0]++
			if got != (quantity.Sign() > 0) {
				t.Fatalf("%q bounds: %t, but is %s", text.String(), got, quantity.String())
			}
		}
	}
	if read[true] < 1000 || read[false] < 1000 {
		t.Errorf("too few quantities: %v", read)
	}
}
