package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// setImages puts images into the containers of a template. Whoever names images means to deploy the result, so every
// image in it must be one that can be: the error names all that cannot.
func setImages(loaded *lint.FileResult, images []string) (*corev1.PodTemplateSpec, error) {
	t := loaded.Template.DeepCopy()
	byName := map[string]*corev1.Container{}
	for _, c := range containers(&t.Spec) {
		byName[c.Name] = c
	}
	set := map[string]bool{}
	for _, image := range images {
		name, reference, ok := strings.Cut(image, "=")
		switch {
		case !ok:
			return nil, fmt.Errorf("--set-image takes NAME=IMAGE@DIGEST, not %q", image)
		case byName[name] == nil:
			return nil, fmt.Errorf("--set-image: the template has no container %q", name)
		case set[name]:
			return nil, fmt.Errorf("--set-image: container %q is named twice", name)
		}
		byName[name].Image, set[name] = reference, true
	}
	if violations := compose.Deployable(t, loaded.Profile); len(violations) > 0 {
		return nil, fmt.Errorf("%s cannot be deployed with these images\n%w", loaded.File, imagesError(violations))
	}
	return t, nil
}

// imagesError puts what is wrong with images in one error, a line each.
func imagesError(vs []compose.Violation) error {
	errs := make([]error, 0, len(vs))
	for _, v := range vs {
		errs = append(errs, fmt.Errorf("%s; %s", v.String(), v.Remedy))
	}
	return errors.Join(errs...)
}

// completeImages offers the containers of the template.
func (r *renderCommand) completeImages(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	if len(args) == 0 {
		return nil, directive
	}
	return r.containerNames(c.Context(), args[0]), directive
}

// containerNames lists the containers of a template, with what follows a name; none where the template cannot be read.
func (r *renderCommand) containerNames(ctx context.Context, file string) []string {
	loaded, err := r.profile.load(ctx, file, Streams{In: strings.NewReader(""), Err: io.Discard}, false)
	if err != nil {
		return nil
	}
	var out []string
	for _, c := range containers(&loaded.Template.Spec) {
		out = append(out, c.Name+"=")
	}
	return out
}

// containers lists the containers that a template may have.
func containers(s *corev1.PodSpec) []*corev1.Container {
	var out []*corev1.Container
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}
