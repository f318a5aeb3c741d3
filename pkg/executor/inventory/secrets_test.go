package inventory_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

// TestNoPlaceForSecrets puts what credentials look like into every text of a row: none takes it, and no error shows it.
func TestNoPlaceForSecrets(t *testing.T) {
	texts := 0
	for _, canary := range inventorytest.Canaries() {
		inventorytest.EachText(rowWithFailure(t), func(path string, set func(string) inventory.Row) {
			texts++
			row := set(canary)
			err := row.ValidateUpdate(rowWithFailure(t))
			switch {
			case err == nil:
				t.Errorf("%s takes %s", path, canary)
			case strings.Contains(err.Error(), canary) && !strings.HasPrefix(path, "Identity.InstanceID"):
				t.Errorf("%s: the error shows the value: %v", path, err)
			}
		})
	}
	if want := 32 * len(inventorytest.Canaries()); texts < want {
		t.Errorf("only %d texts were tried, want %d or more", texts, want)
	}
}

// TestOnlyCheckedTypes demands that a row consists of texts, numbers and times: what holds free bytes has no place in it.
func TestOnlyCheckedTypes(t *testing.T) {
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.String, reflect.Int64, reflect.Int32:
		case reflect.Pointer:
			walk(path, typ.Elem())
		case reflect.Slice:
			walk(path+"[]", typ.Elem())
		case reflect.Struct:
			if typ.PkgPath() == "time" {
				return
			}
			for f := range typ.Fields() {
				walk(path+"."+f.Name, f.Type)
			}
		default:
			t.Errorf("%s is a %s", path, typ)
		}
		if typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Uint8 {
			t.Errorf("%s holds bytes", path)
		}
	}
	walk("Row", reflect.TypeFor[inventory.Row]())
}

func rowWithFailure(t *testing.T) inventory.Row {
	t.Helper()
	row := rowAfter(t, compose.ManagedPVC, "run")
	row.LastFailure = &inventory.Failure{Code: "crashed", Kind: inventory.Pod, Name: row.Pod.Name}
	return row
}
