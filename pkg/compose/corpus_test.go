package compose

import (
	"os"
	"path/filepath"
	"testing"
)

// everyNth keeps the test short; 1 takes the whole corpus.
const everyNth = 3

// corpus lists real Pod specs, where they lie beside the repository.
func corpus(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCorpus holds every document of the corpus against the library, and every finding against the text.
func TestCorpus(t *testing.T) {
	for i, file := range corpus(t) {
		if i%everyNth != 0 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		if err := sameAsLibrary(data); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, v := range findings(data) {
			if err := checkPlace(data, v); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
