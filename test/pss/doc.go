// Package pss holds the policy pack against k8s.io/pod-security-admission, the code with which the API server applies
// the Pod Security Standards: check by check and version by version.
//
// It is a module of its own, because the product must not depend on that one.
//
//	go -C test/pss test -v
//	PSS_DURATION=30m PSS_SEED=1 go -C test/pss test -run TestDifferential -v -timeout 1h
package pss
