package compose

import (
	"slices"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// Names of the rules that this package checks.
const (
	RuleDocumentSize         = "document-size"
	RuleDocumentEncoding     = "document-encoding"
	RuleDocumentEmpty        = "document-empty"
	RuleDocumentMultiple     = "document-multiple"
	RuleDocumentSyntax       = "document-syntax"
	RuleDocumentKey          = "document-key"
	RuleDocumentDuplicateKey = "document-duplicate-key"
	RuleDocumentMerge        = "document-merge-collision"
	RuleDocumentAliases      = "document-aliases"
	RuleDocumentKind         = "document-kind"
	RuleDocumentUnknownField = "document-unknown-field"
	RuleDocumentWrongType    = "document-wrong-type"
	RuleDocumentNullItem     = "document-null-item"
	RuleDocumentBoolean      = "document-boolean"
	RuleProfile              = "profile-value"

	RuleOwnedMetadata          = "owned-metadata"
	RuleReservedMetadata       = "reserved-metadata"
	RuleOwnedRestartPolicy     = "owned-restart-policy"
	RuleOwnedNodeName          = "owned-node-name"
	RuleOwnedOS                = "owned-os"
	RuleOwnedNodeSelector      = "owned-node-selector"
	RuleOwnedNodeAffinity      = "owned-node-affinity"
	RuleOwnedVolume            = "owned-volume"
	RuleOwnedClaim             = "owned-claim"
	RuleEphemeralContainers    = "ephemeral-containers"
	RuleMainContainerMissing   = "main-container-missing"
	RuleMainContainerDuplicate = "main-container-duplicate"
	RuleMainContainerImage     = "main-container-image"
	RuleOwnedEntrypoint        = "owned-entrypoint"
	RuleOwnedVolumeMount       = "owned-volume-mount"
	RuleOwnedPath              = "owned-path"
	RuleOwnedPathAncestor      = "owned-path-ancestor"
	RuleReservedEnv            = "reserved-env"
	RuleReservedEnvFrom        = "reserved-env-from"
	RuleControlPort            = "control-port"

	RuleImagePlaceholder = "image-placeholder"
	RuleImageMutable     = "image-mutable"

	RuleGrantRecipient = "workspace-grant-recipient"
	RuleGrantShape     = "workspace-grant-shape"
	RuleGrantDuplicate = "workspace-grant-duplicate"
	RuleGrantOverlap   = "workspace-grant-overlap"

	RuleAPIMetadata   = "api-metadata"
	RuleAPIPod        = "api-pod"
	RuleAPIContainer  = "api-container"
	RuleAPIImage      = "api-image"
	RuleAPIEnv        = "api-env"
	RuleAPIPort       = "api-port"
	RuleAPIMount      = "api-volume-mount"
	RuleAPIVolume     = "api-volume"
	RuleAPIProbe      = "api-probe"
	RuleAPIResources  = "api-resources"
	RuleAPISecurity   = "api-security"
	RuleAPIScheduling = "api-scheduling"
	RuleAPIDNS        = "api-dns"
)

// Rules returns the catalogue of this package's rules, sorted by name.
func Rules() []finding.Rule {
	rules := slices.Concat(documentRules(), ownershipRules(), grantRules(), apiRules(), deploymentRules())
	slices.SortFunc(rules, func(a, b finding.Rule) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return rules
}

// ruleByName serves the severity and source of a violation.
var ruleByName = sync.OnceValue(func() map[string]finding.Rule {
	m := map[string]finding.Rule{}
	for _, r := range Rules() {
		m[r.Name] = r
	}
	return m
})

// podDocs is where Kubernetes documents the fields of a Pod.
const podDocs = "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/"

// example completes an example: the given lines stand below the template's spec.
func example(spec string) string {
	return "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  spec:\n" + spec
}

// agent is the main container of the examples.
const agent = `    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`
