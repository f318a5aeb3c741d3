package inventorytest

import (
	"fmt"
	"reflect"

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
