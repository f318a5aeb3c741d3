// Package admission_test holds what this project says about admission against real API servers: their mutating
// webhooks and plugins, their defaults and their verdicts.
package admission_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/test/cluster"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := closeServers(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// A server is an API server of one Kubernetes version, shared by all tests, and the webhooks that it calls.
type server struct {
	*cluster.Cluster

	minor    string
	client   kubernetes.Interface
	webhooks *webhooks
}

var (
	serversMu sync.Mutex
	servers   = map[string]*server{}
)

// eachVersion runs a test on the API server of every version that is asked for.
func eachVersion(t *testing.T, f func(*testing.T, *server)) {
	t.Helper()
	for _, minor := range versions(t) {
		t.Run(minor, func(t *testing.T) { f(t, serverOf(t, minor)) })
	}
}

func versions(t *testing.T) []string {
	t.Helper()
	minors, err := cluster.TestVersions()
	if err != nil {
		t.Fatal(err)
	}
	return minors
}

// serverOf returns the API server of a version, which it starts the first time.
func serverOf(t *testing.T, minor string) *server {
	t.Helper()
	serversMu.Lock()
	defer serversMu.Unlock()
	if s, ok := servers[minor]; ok {
		return s
	}
	s, err := startServer(t, minor)
	if err != nil {
		t.Fatal(err)
	}
	servers[minor] = s
	return s
}

func startServer(t *testing.T, minor string, flags ...string) (*server, error) {
	t.Helper()
	ctx := context.Background() // the server outlives the test that starts it
	options := cluster.Options{Version: minor, APIServerFlags: flags, Logf: t.Logf}
	if minor == "1.34" || minor == "1.35" { // from 1.36 on it is v1 and on
		options.FeatureGates = map[string]bool{"MutatingAdmissionPolicy": true}
		options.RuntimeConfig = []string{"admissionregistration.k8s.io/v1beta1=true"}
	}
	c, err := cluster.New(ctx, options)
	if err != nil {
		return nil, err
	}
	s := &server{Cluster: c, minor: minor}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

// prepare makes the client, the webhooks, and what generated Pods refer to.
func (s *server) prepare(ctx context.Context) (err error) {
	config := s.Config()
	config.QPS = -1
	config.ContentType = "application/json" // of protobuf, which is the default, the API server ignores strict field validation
	config.WarningHandler = rest.NoWarnings{}
	if s.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	s.webhooks = startWebhooks()
	_, err = s.client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "agents"}, Value: 1000, PreemptionPolicy: new(corev1.PreemptNever),
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for _, class := range []*nodev1.RuntimeClass{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc",
			Overhead:   &nodev1.Overhead{PodFixed: resources(corev1.ResourceMemory, "64Mi")},
			Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "gvisor"}},
		},
		{ObjectMeta: metav1.ObjectMeta{Name: "rounded"}, Handler: "runsc", Overhead: &nodev1.Overhead{PodFixed: resources(corev1.ResourceCPU, "65m")}},
	} {
		if _, err := s.client.NodeV1().RuntimeClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// namespace creates a namespace with the service accounts that generated Pods use.
func (s *server) namespace(t *testing.T, name string) {
	t.Helper()
	if err := s.CreateNamespace(t.Context(), name, nil); apierrors.IsAlreadyExists(err) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}
	if _, err := s.client.CoreV1().ServiceAccounts(name).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// await polls until the API server, which reads some of its own objects with a delay, acts on one.
func (s *server) await(t *testing.T, what string, acts func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return acts(), nil
	})
	if err != nil {
		t.Fatalf("the API server does not act on %s: %v", what, err)
	}
}

func (s *server) close() error {
	s.webhooks.close()
	return s.Close()
}

func closeServers() error {
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
