// Package oracle answers with the code of Kubernetes itself what a kube-apiserver says to a Pod, to hold
// pkg/compose/podrules against it.
//
// It is a module of its own, because the product must not depend on k8s.io/kubernetes.
//
//	go -C test/oracle test -run 'TestCorpus|TestRaw' -v             // on real Pod specs, where there are any
//	ORACLE_ROUNDS=200000 go -C test/oracle test -run TestDifferential -v -timeout 1h
//	go -C test/oracle test -fuzz FuzzDifferential -fuzztime 15m
package oracle

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // registers the core types with their defaults
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/core/pod"
)

const namespace = "default"

func init() {
	// Clusters that can run Pods of this kind allow privileged containers: kube-proxy needs them.
	capabilities.Setup(true, 0)
}

// Validate returns what the server refuses in a Pod made from t, at paths of the Pod (metadata...,
// spec...). t goes the way of a create request: defaults, conversion, the dropping of fields whose
// feature is off, validation. Of the admission plugins only one is imitated, that which sets
// serviceAccountName to default.
func Validate(t *corev1.PodTemplateSpec) (field.ErrorList, error) {
	v1Pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "kandev-0123456789abcdef",
			Namespace:   namespace,
			Labels:      t.Labels,
			Annotations: t.Annotations,
		},
		Spec: t.Spec,
	}
	v1Pod = v1Pod.DeepCopy()
	legacyscheme.Scheme.Default(v1Pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(v1Pod, internal, nil); err != nil {
		return nil, err
	}
	if internal.Spec.ServiceAccountName == "" {
		internal.Spec.ServiceAccountName = "default"
	}
	ctx := genericapirequest.WithNamespace(context.Background(), namespace)
	pod.Strategy.PrepareForCreate(ctx, internal)
	return pod.Strategy.Validate(ctx, internal), nil
}
