package docker

import "testing"

// proven is one thing that the acceptance proves.
type proven struct {
	what    string
	outcome string
}

// failed is the outcome of what could not be proven.
const failed = "**failed**"

// evidence is everything that was to be proven, in order.
var evidence []proven

// item proves one thing, as a test of its own. Prove returns what was seen.
func (w *world) item(name, what string, prove func(*world) string) {
	w.t.Helper()
	w.t.Run(name, func(t *testing.T) {
		outcome := failed
		defer func() {
			if t.Failed() {
				outcome = failed
			}
			evidence = append(evidence, proven{what, outcome})
			t.Log(outcome)
		}()
		sub := *w
		sub.t = t
		outcome = prove(&sub)
	})
}
