package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestBoundingQuantities holds what counts as a limit against the API's own reading of a quantity, and the evaluator against the pattern of
// lib/review.rego on anything.
func TestBoundingQuantities(t *testing.T) {
	inRego := patternAfter(t, "lib/review.rego", "bounds(quantity) if regex.match(")
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
