package kandev.rules.seccomp_annotation_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.seccomp_annotation as rule

test_pod_and_container if {
	found := rule.findings with input as review.of(fixtures.annotated({
		"seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
		"container.seccomp.security.alpha.kubernetes.io/kandev-agent": "unconfined",
		"example.com/seccomp": "x",
	}))
	fixtures.paths(found) == {
		"template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]",
		"template.metadata.annotations[container.seccomp.security.alpha.kubernetes.io/kandev-agent]",
	}
}

test_pod_document if {
	found := rule.findings with input as review.of({
		"metadata": {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}},
		"spec": {},
	})
	fixtures.paths(found) == {"metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]"}
}
