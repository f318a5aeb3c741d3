package bootstrap

import (
	"strings"
	"testing"
)

func TestEncodeEnv(t *testing.T) {
	got, err := EncodeEnv([]EnvVar{
		{"B", "plain"},
		{"A", "two\nlines"},
		{"_1", "\n"},
		{"EMPTY", ""},
		{"RAW", `a=b 'q' "q" $(x) \ ` + "\x01\xff"},
	})
	want := "B=plain\nA=two\n+lines\n_1=\n+\nEMPTY=\n" + `RAW=a=b 'q' "q" $(x) \ ` + "\x01\xff\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	if got, err := EncodeEnv(nil); err != nil || len(got) > 0 {
		t.Errorf("nothing is %q, %v", got, err)
	}
}

func TestEncodeEnvRefuses(t *testing.T) {
	const secret = "canary"
	cases := map[string][]EnvVar{
		`""`:             {{"", secret}},
		`"A B"`:          {{"A B", secret}},
		`"1A"`:           {{"1A", secret}},
		`"A=B"`:          {{"A=B", secret}},
		`"Ä"`:            {{"Ä", secret}},
		`"A\n"`:          {{"A\n", secret}},
		"HOME":           {{"HOME", secret}},
		"_k_root":        {{"_k_root", secret}},
		"UID":            {{"UID", secret}},
		"A is given":     {{"A", secret}, {"A", secret}},
		"A: the value":   {{"A", secret + "\x00"}},
		"LONG: longer":   {{"LONG", strings.Repeat(secret, MaxEnvBytes/len(secret)+1)}},
		"TIGHT: longer":  {{"TIGHT", strings.Repeat("x", MaxEnvBytes-len("TIGHT=")+1)}},
		"LAST is given ": {{"LAST", ""}, {"B", ""}, {"LAST", ""}},
	}
	for want, vars := range cases {
		_, err := EncodeEnv(vars)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in the error, got %v", want, err)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a value: %v", err)
		}
	}
}
