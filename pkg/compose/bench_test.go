package compose

import "testing"

func BenchmarkParse(b *testing.B) {
	data := []byte(fullTemplate)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, violations := ParseTemplate(data); len(violations) > 0 {
			b.Fatal(violations)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := []byte(fullTemplate)
	b.ReportAllocs()
	for b.Loop() {
		if _, violations := ReadDocument(data); len(violations) > 0 {
			b.Fatal(violations)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	tmpl := spec(b, fullTemplate)
	b.ReportAllocs()
	for b.Loop() {
		if violations := Validate(tmpl, Profile{}); len(violations) > 0 {
			b.Fatal(violations)
		}
	}
}

func BenchmarkValidateOwned(b *testing.B) {
	tmpl := spec(b, fullTemplate)
	b.ReportAllocs()
	for b.Loop() {
		if v := validateOwned(tmpl, Profile{}); len(v.violations) > 0 {
			b.Fatal(v.violations)
		}
	}
}

func BenchmarkCompose(b *testing.B) {
	tmpl := spec(b, fullTemplate)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compose(tmpl, Profile{}, exampleIdentity); err != nil {
			b.Fatal(err)
		}
	}
}
