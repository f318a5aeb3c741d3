package admission

import "github.com/kandev/kandev-podlint/pkg/compose/finding"

// Names of the rules that only a comparison can break. Where a template could break the same rule, a violation has the
// name of compose's rule.
const (
	RuleLabel              = "admitted-label"
	RuleNonce              = "admitted-nonce"
	RuleTokenAutomount     = "admitted-token-automount"
	RuleProcessNamespace   = "admitted-process-namespace"
	RuleContainerDuplicate = "admitted-container-duplicate"
	RuleHostVolumes        = "admitted-host-volumes"
	RuleClaim              = "admitted-claim"
	RuleGrantAdded         = "admitted-grant-added"
	RuleGrantRemoved       = "admitted-grant-removed"
	RuleGrantMode          = "admitted-grant-mode"
)

// Rules returns the catalogue of this package's own rules, sorted by name.
func Rules() []finding.Rule {
	return []finding.Rule{
		rule(finding.Ownership, RuleClaim, "The managed claim is admitted as requested",
			"The managed claim holds the workspace. Another size, access mode, storage class, selector or data source is another workspace than the profile asks for, or starts with someone else's data.",
			"Exempt Kandev's claims from the webhook or plugin that changes them, or ask for these values in the profile."),
		rule(finding.Ownership, RuleContainerDuplicate, "Admitted containers have names of their own",
			"Containers are compared by name. Two of one name could hide what one of them gained.",
			"Find the webhook that adds the second container; it probably ran twice."),
		rule(finding.Grant, RuleGrantAdded, "Admission grants the workspace to nobody",
			"Which companions share the workspace is the template author's decision. A mount that admission adds gives the repository, and whatever the agent writes, to a container that nobody chose.",
			"Request the grant in the template if it is wanted; otherwise exempt the namespace from the webhook that adds the mount."),
		rule(finding.Grant, RuleGrantMode, "A grant is admitted in the mode requested",
			"A read-only grant that comes back writable lets the companion change the repository; a writable one that comes back read-only breaks it while it runs.",
			"Write the mode that is wanted in the template, or exempt the namespace from the webhook that changes it."),
		rule(finding.Grant, RuleGrantRemoved, "A requested grant is admitted",
			"A companion without its workspace does nothing useful, and a container renamed or moved by admission is another recipient than the one that was chosen.",
			"Find the webhook that removes the mount or renames the container, and exempt the namespace."),
		rule(finding.Ownership, RuleHostVolumes, "Admission adds no host directory that holds the agent's volumes",
			"A node keeps the volumes of its Pods below /var/lib/kubelet/pods and shows the root directory of every process below /proc. A container that is given either can read the agent's credentials without mounting their volume.",
			"Exempt the namespace from the webhook that adds the volume, or have it mount a narrower directory."),
		rule(finding.Ownership, RuleLabel, "Requested labels are admitted unchanged",
			"Network policies, quotas and billing select Pods by label. A label that admission adds is accepted; one that the template states stays.",
			"Exempt the Pod from the webhook, or state the label's new value in the template."),
		rule(finding.Ownership, RuleNonce, "The create nonce comes back as it was sent",
			"The nonce proves that an object is the answer to one exact create request, and no copy that someone else put there under the same name.",
			"Exempt the annotation kandev.ai/create-nonce from the webhook that removes or rewrites it."),
		rule(finding.Ownership, RuleProcessNamespace, "Admission lets no container see the agent's processes",
			"Through /proc/PID/root a process reads the files of another one, mounts and all. A companion with the agent's user ID that shares its processes reads the agent's credentials.",
			"Turn the webhook's option off, or exempt the namespace; debug the agent with kubectl exec rather than with --target."),
		rule(finding.Ownership, RuleTokenAutomount, "Token automount is admitted as requested",
			"A service account token gives every container of the Pod the account's rights in the cluster. Kandev turns the automount off unless the template turns it on.",
			"Exempt the namespace from the webhook that changes the field, or state it in the template."),
	}
}

func rule(source finding.Source, name, title, description, remedy string) finding.Rule {
	return finding.Rule{
		Name: name, Title: title, Group: "Admission", Source: source, Severity: finding.Error,
		Description: description, Remedy: remedy,
	}
}
