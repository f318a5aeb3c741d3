// Package namespacepolicy writes the admission policy of the namespace in which sessions run: what a cluster needs so
// that the executor may create privileged companions there, and nobody else anything of that kind.
//
// It is ValidatingAdmissionPolicies in CEL (admissionregistration.k8s.io/v1), which an API server evaluates by itself, and
// the namespace's labels for PodSecurity. What it says of labels and of the nonce comes from package compose.
package namespacepolicy
