package compose

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, text := range examples() {
		f.Add([]byte(text))
		f.Add([]byte(asJSON(text, "")))
	}
	for _, scalar := range scalars {
		f.Add([]byte("apiVersion: v1\nkind: PodTemplate\ntemplate: {spec: {hostname: " + scalar + "}}"))
	}
	f.Add([]byte(aliasBomb("- &a [x]", "- &%s [%s]", 9)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := sameAsLibrary(data); err != nil {
			t.Error(err)
		}
		tmpl, violations := ParseTemplate(data)
		checkViolations(t, data, everything(tmpl, violations, Profile{}))
		if tmpl == nil || len(errorsOf(violations)) > 0 {
			return
		}
		p := Profile{}
		_, err := Preview(tmpl.Spec, p, exampleIdentity)
		if (err == nil) != (len(errorsOf(tmpl.Validate(p))) == 0) {
			t.Errorf("Validate and Preview disagree: %v", err)
		}
	})
}

func FuzzProfile(f *testing.F) {
	for _, text := range examples() {
		for _, style := range profileStyles {
			f.Add([]byte(style(text)))
		}
		for _, style := range quotedProfiles {
			f.Add([]byte(style(text)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, violations := ParseProfile(data)
		checkViolations(t, data, violations)
		if _, _, recognized := Recognize(data); len(recognized) > 0 {
			checkViolations(t, data, recognized)
		}
		if p == nil || p.Template == nil {
			return
		}
		for _, c := range p.Template.Comments("ignore") {
			if _, err := slice(data, c.Range); err != nil {
				t.Error(err)
			}
		}
		tmpl, violations := p.Template.Template()
		checkViolations(t, data, everything(tmpl, violations, p.Profile))
	})
}

func FuzzSnapshot(f *testing.F) {
	for _, s := range exampleSnapshots(f) {
		f.Add(s.Encode())
		f.Add(append(s.Encode(), ' '))
		f.Add(bytes.Replace(s.Encode(), []byte(`"version":1`), []byte(`"version":2`), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeSnapshot(data)
		if err != nil {
			var rules *Invalid
			if !errors.As(err, &rules) && !errors.Is(err, ErrSnapshotVersion) && !errors.Is(err, ErrSnapshotMalformed) {
				t.Errorf("an error of no type: %v", err)
			}
			return
		}
		if !bytes.Equal(s.Encode(), data) {
			t.Errorf("decoded and encoded: %s", s.Encode())
		}
		again, err := NewSnapshot(s.Template(), s.Profile())
		if err != nil || again.SHA256() != s.SHA256() {
			t.Errorf("taken again: %s, %v", again.Encode(), err)
		}
	})
}

// checkViolations checks that every violation says everything and lies in the text.
func checkViolations(t *testing.T, data []byte, violations []Violation) {
	t.Helper()
	for _, v := range violations {
		if v.Rule == "" || v.Severity == "" || v.Source == "" || v.Detail == "" || v.Remedy == "" {
			t.Errorf("%+v lacks something", v)
		}
		if v.Rule == RuleDocumentEncoding {
			continue // columns of a text that is none
		}
		if _, err := slice(data, v.Place); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}
