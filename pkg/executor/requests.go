package executor

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"
)

// The resources of a session.
const (
	podResource   = "pods"
	claimResource = "persistentvolumeclaims"
	eventResource = "events"
)

// object is a Pod or a claim.
type object interface {
	runtime.Object
	metav1.Object
}

// create sends one create request, and only one: client-go would send it again after an answer with Retry-After, and the
// second could meet what the first made. Fields that the server does not know are an error, not dropped.
func (c *Client) create(ctx context.Context, resource string, o, into object, dryRun bool) error {
	if o.GetNamespace() == "" {
		return &Error{Reason: Unconfigured, Message: "the object is in no namespace"}
	}
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return c.strictly(ctx, into, c.rest.Post().
		Namespace(o.GetNamespace()).
		Resource(resource).
		VersionedParams(&options, parameters()).
		Body(o).
		MaxRetries(0))
}

// GetPod returns a Pod as the API server holds it. Fields that this version does not know are an error of reason
// UnknownFields: what cannot be compared may not pass unseen.
func (c *Client) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	return pod, c.get(ctx, podResource, namespace, name, pod)
}

// GetClaim returns a claim as GetPod returns a Pod.
func (c *Client) GetClaim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	return claim, c.get(ctx, claimResource, namespace, name, claim)
}

func (c *Client) get(ctx context.Context, resource, namespace, name string, into object) error {
	return c.strictly(ctx, into, c.rest.Get().Namespace(namespace).Resource(resource).Name(name))
}

// strictly sends a request and decodes its answer, every field of it.
func (c *Client) strictly(ctx context.Context, into object, r *rest.Request) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	result := r.Do(ctx)
	if err := result.Error(); err != nil { // Raw knows no more of it than the status code
		return classify(err)
	}
	data, err := result.Raw()
	if err != nil {
		return classify(err)
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	if err != nil {
		return &Error{Reason: ServerError, Message: fmt.Sprintf("its answer cannot be read: %v", err), cause: err}
	}
	if len(strict) > 0 {
		err := errors.Join(strict...)
		return &Error{Reason: UnknownFields, Message: fmt.Sprintf("the cluster's answer has fields that this version does not know: %v", err), cause: err}
	}
	return nil
}

// list returns the objects of a resource that the options select.
func (c *Client) list(ctx context.Context, resource, namespace string, o metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	list, err := c.rest.Get().Namespace(namespace).Resource(resource).VersionedParams(&o, parameters()).Do(ctx).Get()
	return list, classify(err)
}

// reasonOf returns the reason of an error, "" of any other error and of nil.
func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}
