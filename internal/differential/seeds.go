package differential

import (
	"embed"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

//go:embed seeds/*.yaml
var seedFiles embed.FS

// Seeds returns the handwritten templates, all of which an API server accepts.
func Seeds() ([]*corev1.PodTemplateSpec, error) {
	var seeds []*corev1.PodTemplateSpec
	names, err := fs.Glob(seedFiles, "seeds/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := seedFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		seed := &corev1.PodTemplateSpec{}
		if err := yaml.UnmarshalStrict(data, seed); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}
