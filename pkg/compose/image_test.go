package compose

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// imagesOf is a template with an image in each place where one can stand.
func imagesOf(init, main, companion, volume string) string {
	return example(strings.NewReplacer("INIT", init, "MAIN", main, "COMPANION", companion, "VOLUME", volume).Replace(`    initContainers:
    - name: setup
      image: INIT
    containers:
    - name: docker-engine
      image: COMPANION
    - name: kandev-agent
      image: MAIN
    volumes:
    - name: models
      image: {reference: VOLUME}
`))
}

func TestDeployable(t *testing.T) {
	const (
		placeholder = "registry.example/a@" + PlaceholderDigest
		pinned      = "registry.example/a@" + exampleDigest
	)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"pinned", imagesOf(pinned, "a:1@"+exampleDigest, "localhost:5000/a/b:latest@"+exampleDigest, "a@sha512:"+strings.Repeat("0f", 64)), nil},
		{"placeholders", imagesOf(placeholder, "a:1@"+PlaceholderDigest, placeholder, placeholder), []string{
			`template.spec.initContainers[0].image: init container "setup" has the image registry.example/a@sha256:unresolved, which has a placeholder for its digest [image-placeholder]`,
			`template.spec.containers[0].image: companion "docker-engine" has the image registry.example/a@sha256:unresolved, which has a placeholder for its digest [image-placeholder]`,
			`template.spec.containers[1].image: main container "kandev-agent" has the image a:1@sha256:unresolved, which has a placeholder for its digest [image-placeholder]`,
			`template.spec.volumes[0].image.reference: volume "models" has the image registry.example/a@sha256:unresolved, which has a placeholder for its digest [image-placeholder]`,
		}},
		{"mutable", imagesOf("a", "a:1", "a@sha256:unresolved-yet", "a@"+strings.ToUpper(exampleDigest)), []string{
			`template.spec.initContainers[0].image: init container "setup" has the image a, which names no digest [image-mutable]`,
			`template.spec.containers[0].image: companion "docker-engine" has the image a@sha256:unresolved-yet, which is no reference to an image [image-mutable]`,
			`template.spec.containers[1].image: main container "kandev-agent" has the image a:1, which names no digest [image-mutable]`,
			`template.spec.volumes[0].image.reference: volume "models" has the image a@` + strings.ToUpper(exampleDigest) + `, which is no reference to an image [image-mutable]`,
		}},
		{"none", imagesOf(`""`, pinned, pinned, `""`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range Deployable(spec(t, c.text), Profile{}) {
				got = append(got, v.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// The placeholder is outside the grammar of references, so that no registry and no node can take it for a digest.
func TestPlaceholderIsNoDigest(t *testing.T) {
	if ref, ok := ParseImage("registry.example/a@" + PlaceholderDigest); ok {
		t.Errorf("%+v", ref)
	}
}

// What composes for a create request refuses a placeholder wherever it stands; what composes for a look takes it.
func TestPlaceholderIsNotComposed(t *testing.T) {
	const placeholder, pinned = "a@" + PlaceholderDigest, "a@" + exampleDigest
	for _, text := range []string{
		imagesOf(placeholder, pinned, pinned, pinned), imagesOf(pinned, placeholder, pinned, pinned),
		imagesOf(pinned, pinned, placeholder, pinned), imagesOf(pinned, pinned, pinned, placeholder),
	} {
		tmpl := spec(t, text)
		_, composed := Compose(tmpl, Profile{}, exampleIdentity)
		_, recorded := NewSnapshot(tmpl, Profile{})
		for what, err := range map[string]error{"Compose": composed, "NewSnapshot": recorded} {
			invalid, _ := errors.AsType[*Invalid](err)
			if invalid == nil || !cmp.Equal(rulesOf(invalid.Violations), []string{RuleImagePlaceholder}) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := Preview(tmpl, Profile{}, exampleIdentity); err != nil {
			t.Error(err)
		}
	}
	s, err := NewSnapshot(spec(t, imagesOf(pinned, pinned, pinned, pinned)), Profile{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = DecodeSnapshot([]byte(strings.ReplaceAll(string(s.Encode()), exampleDigest, PlaceholderDigest)))
	if invalid, _ := errors.AsType[*Invalid](err); invalid == nil || len(invalid.Violations) != 4 {
		t.Errorf("DecodeSnapshot: %v", err)
	}
}

// Without placeholders a preview is what is sent.
func TestPreviewIsWhatIsComposed(t *testing.T) {
	for _, tmpl := range goodExamples(t) {
		for name, p := range exampleProfiles {
			want, err := Compose(tmpl, p, exampleIdentity)
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := Preview(tmpl, p, exampleIdentity)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
		}
	}
}
