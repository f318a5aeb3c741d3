package inventorytest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Canaries returns texts that look as credentials do, to put where none may be and to look for afterwards.
func Canaries() []string {
	return []string{
		"ghp_CANARY0c9nB7xLq2ZrT4vY6wE8uI1oP3aS5d",
		"sk-ant-api03-CANARY-9fQ2_mK7xLw3",
		"AKIACANARY7EXAMPLE42",
		"wJalrXUtnFEMI/K7MDENG+CANARYKEYxRfi==",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDQU5BUlkifQ.3q2-7wCANARY_dBjftJeZ4CVPmB92K27uhbUJU1p1r",
		"-----BEGIN PRIVATE KEY-----\nMC4CAQCANARY\n-----END PRIVATE KEY-----\n",
		`{"nonce": "CANARY7b1f"}`,
	}
}

// EachText calls f for every text of a row, in whatever it holds, with a function that returns the row with that text
// replaced.
func EachText(row inventory.Row, f func(path string, set func(string) inventory.Row)) {
	eachText("", reflect.ValueOf(row), func(path string, steps []int) {
		f(path, func(text string) inventory.Row {
			changed := row.Clone()
			v := reflect.ValueOf(&changed).Elem()
			for _, step := range steps {
				v = reflect.Indirect(v)
				if v.Kind() == reflect.Slice {
					v = v.Index(step)
				} else {
					v = v.Field(step)
				}
			}
			v.SetString(text)
			return changed
		})
	})
}

// eachText walks a value and calls f with the path of each text and the fields and indexes that lead to it.
func eachText(path string, v reflect.Value, f func(path string, steps []int), steps ...int) {
	v = reflect.Indirect(v)
	switch {
	case v.Kind() == reflect.String:
		f(path[1:], append([]int(nil), steps...))
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			eachText(fmt.Sprintf("%s[%d]", path, i), v.Index(i), f, append(steps, i)...)
		}
	case v.Kind() == reflect.Struct && v.Type().PkgPath() != "time":
		for i := range v.NumField() {
			eachText(path+"."+v.Type().Field(i).Name, v.Field(i), f, append(steps, i)...)
		}
	}
}

// OfferSecrets takes an instance of each workspace mode through its lifecycle and at each step puts each of Canaries into each
// text of its row, all of which must be refused. The caller then looks for CANARY in whatever the inventory keeps.
func OfferSecrets(t *testing.T, inv inventory.Inventory) {
	t.Helper()
	for _, mode := range compose.WorkspaceModes() {
		row := must(inv.Create(t.Context(), "owner", Identity(string(mode)), Snapshot(mode)))(t)
		for _, step := range Lifecycle(mode) {
			step.Change(&row)
			row = must(inv.Update(t.Context(), row.Holder, row))(t)
			for _, canary := range Canaries() {
				offer(t, inv, row, canary)
			}
		}
	}
}

// offer writes a row with a credential in each text in turn.
func offer(t *testing.T, inv inventory.Inventory, row inventory.Row, canary string) {
	t.Helper()
	EachText(row, func(path string, set func(string) inventory.Row) {
		var err error
		if path == "Holder.Owner" {
			_, err = inv.TakeOver(t.Context(), row.Identity.InstanceID, row.Holder, canary)
		} else {
			_, err = inv.Update(t.Context(), row.Holder, set(canary))
		}
		switch {
		case err == nil:
			t.Fatalf("%s took %s", path, canary)
		case strings.Contains(err.Error(), canary) && path != "Identity.InstanceID":
			t.Errorf("%s: the error shows the credential: %v", path, err)
		}
	})
}
