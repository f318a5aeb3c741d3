package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// objects is what one side of a comparison holds.
type objects struct {
	pod   *corev1.Pod
	claim *corev1.PersistentVolumeClaim
}

// readObjects reads a file of one Pod and at most one claim, as documents or in a List.
func readObjects(file string, in io.Reader) (*objects, error) {
	name, data, err := readInput(file, in)
	if err != nil {
		return nil, err
	}
	docs, violations := compose.ReadDocuments(data)
	if len(violations) > 0 {
		return nil, violationsError(name, violations)
	}
	o := &objects{}
	for _, d := range docs {
		raw, violations := d.JSON()
		if len(violations) > 0 {
			return nil, violationsError(name, violations)
		}
		if err := o.add(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if o.pod == nil {
		return nil, fmt.Errorf("%s holds no Pod", name)
	}
	return o, nil
}

// readInput reads a file, or standard input for "-".
func readInput(file string, in io.Reader) (name string, data []byte, err error) {
	if file == lint.Stdin {
		data, err = io.ReadAll(in)
		return lint.StdinName, data, err
	}
	data, err = os.ReadFile(file) //nolint:gosec // the user names the file
	return file, data, err
}

// add takes one object, or every item of a List.
func (o *objects) add(raw []byte) error {
	var head struct {
		Kind  string                 `json:"kind"`
		Items []runtime.RawExtension `json:"items"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "List", "PodList":
		for _, item := range head.Items {
			if err := o.add(item.Raw); err != nil {
				return err
			}
		}
		return nil
	case "Pod":
		if o.pod != nil {
			return errors.New("more than one Pod; a comparison is of one")
		}
		o.pod = new(corev1.Pod)
		return decodeStrict(raw, o.pod)
	case "PersistentVolumeClaim":
		if o.claim != nil {
			return errors.New("more than one PersistentVolumeClaim; a comparison is of one")
		}
		o.claim = new(corev1.PersistentVolumeClaim)
		return decodeStrict(raw, o.claim)
	}
	return fmt.Errorf("a %q is neither a Pod nor a PersistentVolumeClaim", head.Kind)
}

// decodeStrict refuses fields that this version does not know: what cannot be compared may not pass.
func decodeStrict(raw []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(raw, into)
	return errors.Join(append(strict, err)...)
}

// withNonceOf gives requested objects that hold no create nonce that of the admitted ones: what render prints has none, and every
// request has its own.
func (o *objects) withNonceOf(admitted *objects) {
	adopt := func(requested, admitted metav1.Object) {
		nonce := admitted.GetAnnotations()[compose.NonceAnnotation]
		if _, has := requested.GetAnnotations()[compose.NonceAnnotation]; !has && compose.IsNonce(nonce) {
			compose.SetNonce(requested, nonce)
		}
	}
	adopt(o.pod, admitted.pod)
	if o.claim != nil && admitted.claim != nil {
		adopt(o.claim, admitted.claim)
	}
}
