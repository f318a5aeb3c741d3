package compose

import "github.com/kandev/kandev-podlint/pkg/compose/finding"

func ownershipRule(r finding.Rule) finding.Rule {
	r.Group, r.Source = "Ownership", finding.Ownership
	if r.Severity == "" {
		r.Severity = finding.Error
	}
	if r.Good == "" {
		r.Good = goodTemplate
	}
	return r
}

func grantRule(r finding.Rule) finding.Rule {
	r.Group, r.Source, r.Severity = "Workspace grant", finding.Grant, finding.Error
	if r.Good == "" {
		r.Good = goodGrant
	}
	return r
}

// sidecar is the start of a second container in the examples.
const sidecar = `    - name: tools
      image: registry.example/tools:2.1
`

var goodGrant = example(agent + sidecar + `      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
        readOnly: true
`)

func ownershipRules() []finding.Rule {
	return []finding.Rule{
		ownershipRule(finding.Rule{
			Name:        RuleOwnedMetadata,
			Title:       "A template carries only free labels and annotations",
			Description: "Kandev generates the Pod's name and namespace and proves ownership by UID. A name, owner reference or finalizer from a template would break deletion, or make the garbage collector delete a session.",
			Remedy:      "Keep only labels and annotations in template.metadata.",
			Bad:         "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata:\n    name: mine\n  spec:\n" + agent,
		}),
		ownershipRule(finding.Rule{
			Name:        RuleReservedMetadata,
			Title:       "Ownership labels and annotations are Kandev's",
			Description: "Labels and annotations under kandev.ai/ and the four app.kubernetes.io/ keys identify a session's objects. Reconnecting and deleting rely on them.",
			Remedy:      "Choose a key of your own.",
			Bad:         "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata:\n    labels:\n      app.kubernetes.io/name: mine\n  spec:\n" + agent,
			Good:        "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata:\n    labels:\n      team.example/name: mine\n  spec:\n" + agent,
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedRestartPolicy,
			Title:       "restartPolicy of the Pod is Kandev's",
			Description: "A session survives a restart of its container only with restartPolicy Always, which Kandev sets.",
			Remedy:      "Remove restartPolicy from the Pod. On an init container it stays allowed: that makes it a native sidecar.",
			Bad:         example("    restartPolicy: Never\n" + agent),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedNodeName,
			Title:       "nodeName stays empty",
			Description: "A Pod with a nodeName skips the scheduler, and with it the platform's constraints, taints and quotas of a node.",
			Remedy:      "Use nodeSelector or node affinity on labels of your own.",
			Bad:         example("    nodeName: node-1\n" + agent),
			Good:        example("    nodeSelector:\n      pool.example/agents: \"true\"\n" + agent),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedOS,
			Title:       "os is Kandev's",
			Description: "The agent runs on Linux; Kandev sets os.name from the profile's platform.",
			Remedy:      "Remove os.",
			Bad:         example("    os:\n      name: linux\n" + agent),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedNodeSelector,
			Title:       "The platform's node labels are Kandev's",
			Description: "kubernetes.io/os and kubernetes.io/arch come from the profile's platform, for which the agent binary is chosen. A template that says otherwise would start the wrong binary or never be scheduled.",
			Remedy:      "Set the profile's platform.",
			Bad:         example("    nodeSelector:\n      kubernetes.io/arch: arm64\n" + agent),
			Good:        example("    nodeSelector:\n      pool.example/agents: \"true\"\n" + agent),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedNodeAffinity,
			Title:       "Node affinity may not speak of the platform",
			Description: "A term on kubernetes.io/os or kubernetes.io/arch can contradict the node selector that Kandev sets; the Pod would then wait for ever.",
			Remedy:      "Remove the requirement; set the profile's platform.",
			Bad: example(`    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions:
            - key: kubernetes.io/arch
              operator: In
              values: [arm64]
` + agent),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedVolume,
			Title:       "Owned volumes are defined by Kandev",
			Description: "kandev-runtime, kandev-auth and kandev-workspace hold the control program, the credentials and the workspace. Their sources decide who can read them and whether they survive.",
			Remedy:      "Remove the volume, or rename it.",
			Bad:         example(agent + "    volumes:\n    - name: kandev-auth\n      emptyDir: {}\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedClaim,
			Title:       "The workspace's claim has no second volume",
			Description: "A volume that names the workspace's own claim is an alias of the workspace: any container could mount it anywhere, past the rules of the grant.",
			Remedy:      "Remove the volume; share the workspace by a grant.",
			Bad:         example(agent + "    volumes:\n    - name: workspace\n      ephemeral:\n        volumeClaimTemplate:\n          spec:\n            accessModes: [ReadWriteOnce]\n            resources: {requests: {storage: 1Gi}}\n"),
			Good:        example(agent + "    volumes:\n    - name: scratch\n      emptyDir: {}\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleEphemeralContainers,
			Title:       "A template has no ephemeral containers",
			Description: "The API server refuses ephemeral containers when a Pod is created; they are added to a running Pod.",
			Remedy:      "Make it an ordinary container, or use kubectl debug.",
			Bad:         example(agent + "    ephemeralContainers:\n    - name: debug\n      image: registry.example/debug:1\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleMainContainerMissing,
			Title:       "The main container is there",
			Description: "Kandev starts the agent in the container that the profile names, kandev-agent by default. Without it there is nothing to start.",
			Remedy:      "Name the agent's container so, or set main_container in the profile.",
			Bad:         example("    containers:\n    - name: app\n      image: registry.example/agent:1.4\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleMainContainerDuplicate,
			Title:       "The main container is there once",
			Description: "With two containers of that name it is undecided which one receives the credentials.",
			Remedy:      "Rename one of them.",
			Bad:         example(agent + "    - name: kandev-agent\n      image: registry.example/other:1\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleMainContainerImage,
			Title:       "The main container has an image",
			Description: "The workload image is the administrator's choice; Kandev has no default for it.",
			Remedy:      "Set image.",
			Bad:         example("    containers:\n    - name: kandev-agent\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedEntrypoint,
			Title:       "What the main container starts is Kandev's",
			Description: "command, args and workingDir of the main container start the bootstrap, which waits for the verified upload of the agent and then becomes it.",
			Remedy:      "Remove the field; prepare in the profile's prepare script or in an init container.",
			Bad:         example(agent + "      command: [sleep, infinity]\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedVolumeMount,
			Title:       "Owned volumes are mounted by Kandev",
			Description: "Runtime and auth volumes hold the control program and the credentials: no container but the main one ever sees them, and there Kandev mounts them. The workspace alone can be granted to a companion.",
			Remedy:      "Remove the mount.",
			Bad:         example(agent + sidecar + "      volumeMounts:\n      - name: kandev-auth\n        mountPath: /auth\n"),
			Good:        goodGrant,
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedPath,
			Title:       "Owned paths are Kandev's in every container",
			Description: "A mount or device at or below /opt/kandev, /run/kandev or /workspace would hide Kandev's own files or pose as them. Paths are compared as the container runtime cleans them.",
			Remedy:      "Mount somewhere else.",
			Bad:         example(agent + "      volumeMounts:\n      - name: data\n        mountPath: /x/../workspace\n    volumes:\n    - name: data\n      emptyDir: {}\n"),
			Good:        example(agent + "      volumeMounts:\n      - name: data\n        mountPath: /data\n    volumes:\n    - name: data\n      emptyDir: {}\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleOwnedPathAncestor,
			Title:       "A mount above an owned path deserves a look",
			Severity:    finding.Warning,
			Description: "A volume at /, /run or /opt becomes the parent of an owned path. Kandev's mounts still come to lie on top, but the mount point is created in that volume, and whoever writes it can put a link there for the next start.",
			Remedy:      "Mount at a path that is no parent of an owned one.",
			Bad:         example(agent + "      volumeMounts:\n      - name: run\n        mountPath: /run\n    volumes:\n    - name: run\n      emptyDir: {}\n"),
			Good:        example(agent + "      volumeMounts:\n      - name: run\n        mountPath: /run/tools\n    volumes:\n    - name: run\n      emptyDir: {}\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleReservedEnv,
			Title:       "Reserved environment names are Kandev's",
			Description: "HOME and names that start with AGENTCTL_ or KANDEV_ reach the agent through files in the owned volumes, never through the Pod spec. A template that sets one could redirect the agent or its credentials.",
			Remedy:      "Choose another name.",
			Bad:         example(agent + "      env:\n      - name: HOME\n        value: /tmp\n"),
			Good:        example(agent + "      env:\n      - name: TOOL_HOME\n        value: /tmp\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleReservedEnvFrom,
			Title:       "envFrom has a prefix that rules reserved names out",
			Description: "The keys of a ConfigMap or Secret are not known when a template is saved. Only a prefix that no reserved name begins with keeps them from becoming HOME, AGENTCTL_* or KANDEV_*.",
			Remedy:      "Set such a prefix, or take single keys with env and valueFrom.",
			Bad:         example(agent + "      envFrom:\n      - configMapRef:\n          name: settings\n"),
			Good:        example(agent + "      envFrom:\n      - prefix: CFG_\n        configMapRef:\n          name: settings\n"),
		}),
		ownershipRule(finding.Rule{
			Name:        RuleControlPort,
			Title:       "The control port is Kandev's",
			Description: "The agent's control program listens on 8765/TCP, named kandev-agentctl, which Kandev declares on the main container. All containers of a Pod share its network.",
			Remedy:      "Choose another port number and name.",
			Bad:         example(agent + sidecar + "      ports:\n      - containerPort: 8765\n"),
			Good:        example(agent + sidecar + "      ports:\n      - containerPort: 8080\n"),
		}),
	}
}

func grantRules() []finding.Rule {
	return []finding.Rule{
		grantRule(finding.Rule{
			Name:        RuleGrantRecipient,
			Title:       "A grant goes to an ordinary container",
			Description: "Init containers, native sidecars among them, and ephemeral containers never receive the workspace: the first run before it is prepared, the last appear without the template's author.",
			Remedy:      "Move the container to containers, or remove the mount.",
			Bad:         example(agent + "    initContainers:\n    - name: setup\n      image: registry.example/tools:2.1\n      volumeMounts:\n      - name: kandev-workspace\n        mountPath: /workspace\n"),
		}),
		grantRule(finding.Rule{
			Name:        RuleGrantShape,
			Title:       "A grant is all of /workspace",
			Description: "A grant is one mount of kandev-workspace at exactly /workspace, read-write or readOnly, and nothing else: what the template asks for can then be compared with what the cluster admitted, byte for byte.",
			Remedy:      "Write name, mountPath: /workspace and readOnly only.",
			Bad:         example(agent + sidecar + "      volumeMounts:\n      - name: kandev-workspace\n        mountPath: /workspace\n        subPath: build\n"),
		}),
		grantRule(finding.Rule{
			Name:        RuleGrantDuplicate,
			Title:       "A container takes the workspace once",
			Description: "A second mount of the workspace could have another path or mode, past what the grant says.",
			Remedy:      "Remove the second mount.",
			Bad:         example(agent + sidecar + "      volumeMounts:\n      - name: kandev-workspace\n        mountPath: /workspace\n        readOnly: true\n      - name: kandev-workspace\n        mountPath: /again\n"),
		}),
		grantRule(finding.Rule{
			Name:        RuleGrantOverlap,
			Title:       "Nothing overlaps the grant",
			Description: "Another volume at, below or above /workspace would replace part of what the companion sees there, or let it reach the workspace's mount point.",
			Remedy:      "Mount the other volume elsewhere.",
			Bad:         example(agent + sidecar + "      volumeMounts:\n      - name: kandev-workspace\n        mountPath: /workspace\n      - name: cache\n        mountPath: /workspace/.cache\n    volumes:\n    - name: cache\n      emptyDir: {}\n"),
		}),
	}
}
