// Code generated from the rules' METADATA by go generate; DO NOT EDIT.

package policy

import "github.com/kandev/kandev-podlint/pkg/compose/finding"

var catalogue = []finding.Rule{
	{
		Name:        "agent-not-confined",
		Title:       "The agent is not confined",
		Group:       "agent",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The agent runs commands that a model wrote and code that it downloaded, and nobody has reviewed either. Four settings keep a mistake or an attack within the container: no capabilities, the runtime's seccomp profile, a user other than root, and no way to gain privileges. Rules of the Pod Security Standards say the same of every container as infos, as most public templates lack them; for the one container that runs unreviewed code it is a warning all the same.",
		Remedy:      "Give the main container runAsNonRoot: true with a runAsUser, allowPrivilegeEscalation: false, capabilities.drop: [ALL] and seccompProfile.type: RuntimeDefault.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        allowPrivilegeEscalation: false
        capabilities:
          drop: [ALL]
        seccompProfile:
          type: RuntimeDefault
`,
		FalsePositives: "An agent that must use sudo, and one whose image sets a user other than root. A privileged agent is reported by privileged-container.",
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "privileged-workspace-grant",
		Title:       "A privileged companion can write to the workspace",
		Group:       "companion",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "What a privileged companion writes, the agent runs: hooks, build scripts, binaries with the set-user-ID bit, device files. A flaw in the companion, or an image that it pulled, so reaches the agent and its credentials, and through the companion's privilege the node. A read-only grant keeps its own programs and nested containers from writing by accident; it is no barrier against a companion that is taken over, since a privileged one can mount the workspace anew.",
		Remedy:      "Grant the workspace with readOnly: true, or to a companion that is not privileged.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: tools
      image: registry.example/tools:2.1
      securityContext:
        privileged: true
      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: tools
      image: registry.example/tools:2.1
      securityContext:
        privileged: true
      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
        readOnly: true
`,
		FalsePositives: "A Docker engine whose nested containers build in the workspace; suppress the finding there with that reason. No template of the public corpus has a workspace grant, so none shows this rule.",
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/concepts/security/linux-kernel-security-constraints/#privileged-containers",
		},
	},
	{
		Name:        "apparmor-unconfined",
		Title:       "AppArmor is turned off",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The runtime's AppArmor profile keeps a container from mounting file systems and from writing to sensitive files of /proc and /sys. Unconfined turns it off, as a field or as the older annotation.",
		Remedy:      "Set appArmorProfile.type to RuntimeDefault, or to Localhost with a profile of your own.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        appArmorProfile:
          type: Unconfined
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        appArmorProfile:
          type: RuntimeDefault
`,
		FalsePositives: "Nested container engines that the default profile stops.",
		PSS:            &finding.PSS{Level: "baseline", Check: "appArmorProfile"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tutorials/security/apparmor/",
		},
	},
	{
		Name:        "proc-mount-not-default",
		Title:       "A container's procMount is not Default",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "The baseline standard allows procMount: Unmasked in a Pod with a user namespace of its own from Kubernetes 1.35; the restricted standard goes on to forbid it. The parts of /proc that it shows belong to the whole node.",
		Remedy:      "Remove procMount.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    hostUsers: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        procMount: Unmasked
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    hostUsers: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        procMount: Default
`,
		FalsePositives: "Nested containers without privileged mode need it, in a user namespace.",
		PSS:            &finding.PSS{Level: "restricted", Check: "procMount_restricted"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "seccomp-annotation",
		Title:       "A seccomp annotation has no effect",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Kubernetes reads the seccomp annotations no more since 1.27; only the field seccompProfile counts. A template that relies on them runs without the profile that its author meant.",
		Remedy:      "Remove the annotation and set securityContext.seccompProfile.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  metadata:
    annotations:
      seccomp.security.alpha.kubernetes.io/pod: runtime/default
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      seccompProfile:
        type: RuntimeDefault
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A template that is also used on clusters older than 1.27 and sets the field too.",
		References: []string{
			"https://kubernetes.io/docs/reference/labels-annotations-taints/#seccomp-security-alpha-kubernetes-io-pod",
		},
	},
	{
		Name:        "seccomp-unconfined",
		Title:       "Seccomp is turned off",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The runtime's default seccomp profile blocks system calls that containers do not need and exploits do. Unconfined turns it off even on nodes that apply it by default.",
		Remedy:      "Set seccompProfile.type to RuntimeDefault, or to Localhost with a profile of your own.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        seccompProfile:
          type: Unconfined
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        seccompProfile:
          type: RuntimeDefault
`,
		FalsePositives: "Debuggers and nested container engines that a default profile stops; a Localhost profile is narrower.",
		PSS:            &finding.PSS{Level: "baseline", Check: "seccompProfile_baseline"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tutorials/security/seccomp/",
		},
	},
	{
		Name:        "seccomp-unset",
		Title:       "A container has no seccomp profile",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "Where neither the container nor the Pod names a profile, containers run without one on every node whose kubelet does not set seccompDefault. The restricted Pod Security Standard asks for one, RuntimeDefault or Localhost, and does not take Unconfined from the Pod even where each container has its own.",
		Remedy:      "Set securityContext.seccompProfile.type: RuntimeDefault on the Pod.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      seccompProfile:
        type: RuntimeDefault
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "Nodes with seccompDefault apply the profile anyhow; a privileged container runs without one whatever is set.",
		PSS:            &finding.PSS{Level: "restricted", Check: "seccompProfile_restricted"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tutorials/security/seccomp/",
		},
	},
	{
		Name:        "selinux-options",
		Title:       "A container chooses its own SELinux label",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "An SELinux user, role or a type other than those for containers can take a container out of the node's policy; spc_t, for one, is confined by nothing. The level alone separates Pods and is free to choose.",
		Remedy:      "Remove user, role and type from seLinuxOptions.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        seLinuxOptions:
          type: spc_t
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        seLinuxOptions:
          level: s0:c123,c456
`,
		FalsePositives: "A node with policy modules of its own, whose types the standard does not know.",
		PSS:            &finding.PSS{Level: "baseline", Check: "seLinuxOptions"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "unmasked-proc",
		Title:       "A container sees /proc unmasked",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "procMount: Unmasked shows the parts of /proc that runtimes hide or make read-only, such as /proc/kcore and /proc/sys. The API server accepts it only beside hostUsers: false, and the baseline standard allows that from Kubernetes 1.35.",
		Remedy:      "Remove procMount, or set hostUsers: false on Kubernetes 1.35 and newer.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        procMount: Unmasked
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    hostUsers: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        procMount: Unmasked
`,
		FalsePositives: "Nested containers without privileged mode need it, in a user namespace.",
		PSS:            &finding.PSS{Level: "baseline", Check: "procMount"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "unsafe-sysctl",
		Title:       "The Pod sets a sysctl that is not known to be safe",
		Group:       "confinement",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A sysctl that is not separate for each Pod changes the node for every other Pod on it. The kubelet refuses those that its node does not allow by name, and the Pod fails to start.",
		Remedy:      "Remove the sysctl, or use one of the safe set.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      sysctls:
      - name: kernel.msgmax
        value: "65536"
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      sysctls:
      - name: net.ipv4.ip_unprivileged_port_start
        value: "0"
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "Nodes whose kubelet allows the sysctl with --allowed-unsafe-sysctls.",
		PSS:            &finding.PSS{Level: "baseline", Check: "sysctls"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/",
		},
		Parameters: []finding.Parameter{finding.Parameter{Name: "allowed", Description: "Names of sysctls that the kubelets allow with --allowed-unsafe-sysctls."}},
	},
	{
		Name:        "kube-api-access-volume",
		Title:       "A volume has a name that the API server takes for its own",
		Group:       "credentials",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The API server's ServiceAccount plugin looks for a volume whose name starts with kube-api-access-. It takes the template's volume for its token volume and mounts it into every other container at the token's place: what one container writes there, the agent reads as its credentials for the API server, and the other way round.",
		Remedy:      "Give the volume another name.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: kube-api-access-x
      emptyDir: {}
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: api-access
      emptyDir: {}
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A Pod read back from the API server, if it was created with automountServiceAccountToken: true, is not reported.",
		References: []string{
			"https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/",
		},
	},
	{
		Name:        "projected-service-account-token",
		Title:       "A volume projects a service account token",
		Group:       "credentials",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A projected serviceAccountToken source mounts a token whatever automountServiceAccountToken says. Each container that mounts the volume can speak as the service account to whoever accepts the token's audience, and a privileged companion need not mount it: the kubelet's directory on the node holds it.",
		Remedy:      "Remove the serviceAccountToken source, or mount the volume only where the token is used and give it a narrow audience.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: token
      projected:
        sources:
        - serviceAccountToken:
            path: token
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: settings
      projected:
        sources:
        - configMap:
            name: settings
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "Workload identity of a cloud, where the audience is that cloud's and not the API server.",
		References: []string{
			"https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken",
		},
	},
	{
		Name:        "service-account-token",
		Title:       "The Pod mounts a service account token",
		Group:       "credentials",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Kandev turns token automount off unless the template turns it on. With it, every container, the companions too, can talk to the API server as the service account. What gets out of a nested container of a privileged companion finds the token there.",
		Remedy:      "Remove automountServiceAccountToken, or bind the service account to the few permissions that the session needs.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    automountServiceAccountToken: true
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    automountServiceAccountToken: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A session whose work is the cluster itself.",
		References: []string{
			"https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/",
		},
	},
	{
		Name:        "shared-process-namespace",
		Title:       "Containers see each other's processes",
		Group:       "credentials",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "With shareProcessNamespace a companion with the agent's user ID reads the agent's credentials, memory-backed files included, through /proc/PID/root, although it mounts none of them; a privileged one needs no user ID. A container's own process namespace is what keeps /run/kandev to the agent.",
		Remedy:      "Remove shareProcessNamespace.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    shareProcessNamespace: true
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    shareProcessNamespace: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A Pod whose only container is the agent, as long as admission adds no other.",
		References: []string{
			"https://kubernetes.io/docs/tasks/configure-pod-container/share-process-namespace/",
		},
	},
	{
		Name:        "docker-data-volume",
		Title:       "Docker's data has no volume with a size of its own",
		Group:       "docker",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Images, layers and nested containers fill whatever they are given. On the container's own file system they fill the node's disk until the kubelet evicts Pods, this session among them; in the workspace they fill the checkout; on a claim or a directory of the node a cache outlives the session and carries what one session built into the next. An emptyDir with a sizeLimit ends with the Pod and evicts only the session that exceeds it; a sizeLimit of 0 is none.",
		Remedy:      "Mount an emptyDir with a sizeLimit at /var/lib/docker, or at the daemon's --data-root. Where a container of the Pod has a limit for ephemeral-storage, the sum of all such limits has to hold it.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd]
      volumeMounts:
      - name: docker-data
        mountPath: /var/lib/docker
    volumes:
    - name: docker-data
      emptyDir: {}
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd]
      volumeMounts:
      - name: docker-data
        mountPath: /var/lib/docker
    volumes:
    - name: docker-data
      emptyDir:
        sizeLimit: 20Gi
`,
		FalsePositives: "A daemon whose --data-root stands in a daemon.json of the image. A generic ephemeral volume is as good as an emptyDir and not reported. No template of the public corpus runs a Docker engine, so none shows this rule.",
		References: []string{
			"https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
			"https://docs.docker.com/engine/daemon/#daemon-data-directory",
		},
	},
	{
		Name:        "docker-engine-user",
		Title:       "A Docker engine may not run as root",
		Group:       "docker",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "dockerd refuses to start as another user, and where runAsNonRoot is true the kubelet refuses to start its image as root: the companion crashes or waits for ever, and the session with it. Set for the whole Pod, a non-root user is the engine's too. Only Docker's rootless images run without root.",
		Remedy:      "Move runAsNonRoot and runAsUser from the Pod to the agent, and give the engine runAsUser: 0.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      runAsNonRoot: true
      runAsUser: 1000
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd]
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd]
`,
		FalsePositives: "A rootless engine whose image does not say rootless in its name or tag. No template of the public corpus runs a Docker engine, so none shows this rule.",
		References: []string{
			"https://docs.docker.com/engine/security/rootless/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "docker-socket",
		Title:       "A Docker socket reaches too far, or not to its client",
		Group:       "docker",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Whoever opens the socket commands the daemon. In an emptyDir it ends with the Pod and is nobody else's; on a claim it is in reach of every Pod that mounts the claim, and in the workspace of all that works there. dockerd gives the socket to root and to one group, with mode 0660: the group that --group names, or else the image's group docker, whose number differs between images. A client that does not run as root must be in it, which fsGroup makes sure of for every container of the Pod.",
		Remedy:      "Share an emptyDir at /run/docker between daemon and agent, start the daemon with --group=GID and set the Pod's fsGroup to that GID.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
      volumeMounts:
      - name: docker-socket
        mountPath: /run/docker
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd, --host=unix:///run/docker/docker.sock]
      volumeMounts:
      - name: docker-socket
        mountPath: /run/docker
    volumes:
    - name: docker-socket
      emptyDir: {}
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      fsGroup: 1000
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
      volumeMounts:
      - name: docker-socket
        mountPath: /run/docker
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd, --host=unix:///run/docker/docker.sock, --group=1000]
      volumeMounts:
      - name: docker-socket
        mountPath: /run/docker
    volumes:
    - name: docker-socket
      emptyDir: {}
`,
		FalsePositives: "A client whose image puts its user into the socket's group, by its primary group or in /etc/group. A directory of the node is reported by host-path or sensitive-host-path. No template of the public corpus runs a Docker engine, so none shows this rule.",
		References: []string{
			"https://docs.docker.com/reference/cli/dockerd/#daemon-socket-option",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "docker-tcp-listener",
		Title:       "A Docker daemon listens on TCP",
		Group:       "docker",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Whoever reaches the port commands a privileged daemon, and through it the node. A Pod has one network for all its containers, so even a port on loopback is open to every companion, and 0.0.0.0 to every Pod that a network policy lets through. dockerd-entrypoint.sh of the official images adds such a listener by itself when it gets no arguments or when the first is a flag: port 2376 with TLS, as DOCKER_TLS_CERTDIR is /certs in the image, or port 2375 without any authentication where DOCKER_TLS_CERTDIR is empty or the certificates are missing. A --host of one's own comes on top of it. Only a command that names dockerd itself listens where it is told and nowhere else. A companion counts as a Docker engine when it is privileged and its image has dind in its name, its command names dockerd, or it mounts a volume at /var/lib/docker.",
		Remedy:      "Start the daemon with args: [dockerd, --host=unix:///run/docker/docker.sock], share /run/docker as an emptyDir with the agent and set DOCKER_HOST: unix:///run/docker/docker.sock there.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [--host=unix:///run/docker/docker.sock]
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: docker-engine
      image: registry.example/docker:27-dind
      securityContext:
        privileged: true
      args: [dockerd, --host=unix:///run/docker/docker.sock]
`,
		FalsePositives: "A privileged companion with dind in its image's name whose entrypoint is not that of the official images. No template of the public corpus runs a Docker engine, so none shows this rule.",
		References: []string{
			"https://docs.docker.com/engine/security/protect-access/",
			"https://github.com/docker-library/docker/blob/master/dockerd-entrypoint.sh",
		},
	},
	{
		Name:        "host-namespace",
		Title:       "The Pod shares a namespace of the node",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "hostNetwork puts the agent's control port on the node's own loopback, where every process of the node reaches it; the API server makes it host port 8765 as well, so that two sessions cannot share a node. hostPID shows every process of the node to every container: a companion with the agent's user ID reads the agent's memory, and through /proc/PID/root its credentials, and a privileged one those of the whole node. hostIPC shares the node's shared memory.",
		Remedy:      "Remove hostNetwork, hostPID and hostIPC.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    hostPID: true
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    hostPID: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "None known: an agent session needs no namespace of its node.",
		PSS:            &finding.PSS{Level: "baseline", Check: "hostNamespaces"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "host-path",
		Title:       "A volume is a directory of the node",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A hostPath volume outlives the session, is shared with every other Pod on the node that names it, and makes the session depend on one node's contents. The workspace, caches and sockets of a session belong in Pod-scoped volumes.",
		Remedy:      "Use an emptyDir, a claim, a ConfigMap or an image volume instead of hostPath.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: cache
      hostPath:
        path: /data/cache
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: cache
      emptyDir: {}
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A node prepared with a read-only data set or a read-only cache of images.",
		PSS:            &finding.PSS{Level: "baseline", Check: "hostPathVolumes"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/concepts/storage/volumes/#hostpath",
		},
		Parameters: []finding.Parameter{finding.Parameter{Name: "allowed", Description: "Directories of the node that are prepared for sessions; what lies below one is allowed too."}},
	},
	{
		Name:        "host-port",
		Title:       "A container takes a port of the node",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A hostPort opens the container to everything that reaches the node, past network policies in many clusters, and two sessions with the same one cannot run on one node. The agent is reached by a port-forward and needs none.",
		Remedy:      "Remove hostPort; containers of the Pod reach each other through localhost.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      ports:
      - containerPort: 3000
        hostPort: 3000
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      ports:
      - containerPort: 3000
`,
		FalsePositives: "With hostNetwork the API server copies every containerPort to hostPort.",
		PSS:            &finding.PSS{Level: "baseline", Check: "hostPorts"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "host-user-namespace",
		Title:       "A powerful container uses the node's user namespace",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "In the node's user namespace root of a container is root of the node as soon as it gets out. With hostUsers: false the Pod gets a range of user IDs of its own, and capabilities, privileged mode and root count inside that range only.",
		Remedy:      "Set hostUsers: false in the Pod's spec where nodes and volumes support user namespaces.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        privileged: true
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    hostUsers: false
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        privileged: true
`,
		FalsePositives: "Nodes with an old kernel or runtime, volumes without ID-mapped mounts, and some nested container engines.",
		References: []string{
			"https://kubernetes.io/docs/concepts/workloads/pods/user-namespaces/",
		},
	},
	{
		Name:        "probe-host",
		Title:       "A probe or lifecycle hook names a host",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The kubelet makes the connections of probes and hooks, from the node. With a host it connects wherever the template says, past the Pod's network policies, and tells by the container's state whether something answered. The baseline standard forbids it from Kubernetes 1.34.",
		Remedy:      "Remove host: the kubelet then connects to the Pod. For a virtual host, set a Host header in httpHeaders.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: cache
      image: registry.example/cache:3
      readinessProbe:
        tcpSocket:
          host: 10.0.0.1
          port: 6379
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: cache
      image: registry.example/cache:3
      readinessProbe:
        tcpSocket:
          port: 6379
`,
		FalsePositives: "127.0.0.1 is the node's own address, and in a Pod of the host's network the container's too; an exec probe does the same in any Pod.",
		PSS:            &finding.PSS{Level: "baseline", Check: "hostProbesAndHostLifecycle"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/",
		},
	},
	{
		Name:        "sensitive-host-path",
		Title:       "A volume gives the node away",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Some paths of a node are worth the node: its root, /etc, /proc, /sys, /dev, the kubelet's directory with every Pod's volumes and tokens, and the container runtime's data and socket, through which any container can be started. A companion that mounts the kubelet's or the runtime's directories reaches the agent's credentials too, the memory-backed ones included. The path counts as the node resolves it, and so does a directory above such a path.",
		Remedy:      "Remove the volume; for Docker run an engine in a companion with a Pod-scoped socket.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: docker
      hostPath:
        path: /var/run/docker.sock
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    volumes:
    - name: docker
      emptyDir: {}
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A single device such as /dev/kvm or /dev/fuse is less than all of /dev; suppress the finding with that reason.",
		PSS:            &finding.PSS{Level: "baseline", Check: "hostPathVolumes"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/concepts/storage/volumes/#hostpath",
		},
	},
	{
		Name:        "windows-host-process",
		Title:       "A Windows HostProcess container",
		Group:       "host",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A HostProcess container runs directly on a Windows node with its accounts, files and network. Kandev's sessions are Linux Pods, which the API server lets set no Windows options.",
		Remedy:      "Remove windowsOptions.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        windowsOptions:
          hostProcess: true
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext: {}
`,
		FalsePositives: "None known.",
		PSS:            &finding.PSS{Level: "baseline", Check: "windowsHostProcess"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "restricted-volume",
		Title:       "A volume has a type that the restricted standard does not know",
		Group:       "mounts",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "The restricted Pod Security Standard allows volumes of the Pod itself and of the cluster's objects: configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected and secret. The other types let whoever writes the template reach a server, a disk or the node past what the cluster's administrator has made claims for.",
		Remedy:      "Use a persistentVolumeClaim, bound to a PersistentVolume of that type where its contents are needed.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    volumes:
    - name: models
      nfs:
        server: nfs.example
        path: /models
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    volumes:
    - name: models
      persistentVolumeClaim:
        claimName: models
        readOnly: true
`,
		FalsePositives: "A cluster whose administrator gives out a server or a disk by template and not by claim.",
		PSS:            &finding.PSS{Level: "restricted", Check: "restrictedVolumes"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/concepts/storage/volumes/",
		},
	},
	{
		Name:        "sub-path-expansion",
		Title:       "A subPathExpr that the kubelet will refuse",
		Group:       "mounts",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The API server cannot see what subPathExpr expands to; the kubelet can, and refuses to start the container when the result is absolute or steps back with \"..\". The session then hangs in CreateContainerConfigError.",
		Remedy:      "Give the variable a relative value without \"..\", or write the path in subPath.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      env:
      - name: P
        value: ../../etc
      volumeMounts:
      - name: data
        mountPath: /data
        subPathExpr: $(P)
    volumes:
    - name: data
      emptyDir: {}
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      env:
      - name: P
        value: team/a
      volumeMounts:
      - name: data
        mountPath: /data
        subPathExpr: $(P)
    volumes:
    - name: data
      emptyDir: {}
`,
		FalsePositives: "None known: only variables whose value stands in the template are expanded.",
		References: []string{
			"https://kubernetes.io/docs/concepts/storage/volumes/#using-subpath-expanded-environment",
		},
	},
	{
		Name:        "added-capability",
		Title:       "A container adds a capability beyond the baseline",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Capabilities such as SYS_ADMIN, SYS_PTRACE, NET_ADMIN or BPF are parts of root's power over the node and over the other containers. The baseline Pod Security Standard lets a container add only a short list, in which even NET_RAW, a default of most runtimes, is missing. A companion with SYS_PTRACE reads the agent's memory and credentials wherever it sees the agent's process (shareProcessNamespace, hostPID); one with SYS_ADMIN mounts what it likes and is close to privileged. Names count in any case and with or without CAP_, because runtimes read them so; ALL is all of them.",
		Remedy:      "Remove the capability, or replace ALL by the few capabilities that the program needs.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        capabilities:
          add: [SYS_PTRACE]
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        capabilities:
          drop: [ALL]
`,
		FalsePositives: "A debugger needs SYS_PTRACE and a VPN NET_ADMIN; suppress the finding there with that reason, or allow the capability everywhere with the parameter.",
		PSS:            &finding.PSS{Level: "baseline", Check: "capabilities_baseline"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://man7.org/linux/man-pages/man7/capabilities.7.html",
		},
		Parameters: []finding.Parameter{finding.Parameter{Name: "allowed", Description: "Capabilities that containers may add, such as NET_ADMIN."}},
	},
	{
		Name:        "baseline-capability",
		Title:       "A container adds a capability of the default set",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "The capability is one that container runtimes give by default, so adding it matters only beside drop: [ALL], where it keeps a piece of root's power. The restricted Pod Security Standard allows NET_BIND_SERVICE alone.",
		Remedy:      "Remove the capability from capabilities.add unless the program fails without it.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        capabilities:
          drop: [ALL]
          add: [CHOWN]
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        capabilities:
          drop: [ALL]
          add: [NET_BIND_SERVICE]
`,
		FalsePositives: "A program that starts as root and changes to another user needs SETUID and SETGID.",
		PSS:            &finding.PSS{Level: "restricted", Check: "capabilities_restricted"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "capabilities-not-dropped",
		Title:       "A container keeps Linux capabilities",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "A container that does not drop ALL keeps some fourteen pieces of root's power that the runtime gives by default, such as making packets of any kind or changing the owner of any file, for whatever process comes to run as root in it. The restricted Pod Security Standard asks every container to drop ALL.",
		Remedy:      "Set securityContext.capabilities.drop: [ALL] on each container, and add back only what its program fails without.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        capabilities:
          drop: [NET_RAW]
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        capabilities:
          drop: [ALL]
`,
		FalsePositives: "A privileged container has every capability whatever it drops. A program that starts as root and changes to another user needs some.",
		PSS:            &finding.PSS{Level: "restricted", Check: "capabilities_restricted"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "non-root-not-required",
		Title:       "A container may run as root",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "Without runAsNonRoot: true the image alone decides whether the container runs as root, and a new build of the image can change it unseen. With it, the kubelet refuses to start a container as root. In a Pod with a root companion it belongs on the other containers and not on the Pod.",
		Remedy:      "Set securityContext.runAsNonRoot: true on each container that does not need root.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsNonRoot: true
`,
		FalsePositives: "A container that sets a runAsUser other than 0 does not run as root today; the setting keeps it so. A container engine's daemon needs root.",
		PSS:            &finding.PSS{Level: "restricted", Check: "runAsNonRoot"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "privilege-escalation",
		Title:       "A container allows privilege escalation",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "With allowPrivilegeEscalation: true a program that is not root can become root through a set-user-ID file of its image, such as sudo or su. Code that an agent runs is not trusted; it should not gain more than the agent has.",
		Remedy:      "Set securityContext.allowPrivilegeEscalation: false.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        allowPrivilegeEscalation: true
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        allowPrivilegeEscalation: false
`,
		FalsePositives: "An image whose work needs sudo; a privileged container always may escalate, so that the value changes nothing there.",
		PSS:            &finding.PSS{Level: "restricted", Check: "allowPrivilegeEscalation"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "privilege-escalation-unset",
		Title:       "A container does not rule out privilege escalation",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "Where allowPrivilegeEscalation is absent, set-user-ID files of the image work, as with true. The restricted Pod Security Standard asks for an explicit false on every container.",
		Remedy:      "Set securityContext.allowPrivilegeEscalation: false.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        allowPrivilegeEscalation: false
`,
		FalsePositives: "A privileged container must leave it out or set it to true: the API server refuses false there.",
		PSS:            &finding.PSS{Level: "restricted", Check: "allowPrivilegeEscalation"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "privileged-container",
		Title:       "A container runs privileged",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A privileged container has every capability and every device of the node, and no seccomp, AppArmor or SELinux confinement: whoever controls it controls the node and, in an agent session, can read the agent's credentials. It is the one setting that a Docker-in-Docker companion cannot do without, and no other container should have it.",
		Remedy:      "Remove privileged, or keep it on the one companion that runs a container engine and give the session nodes of its own.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        privileged: true
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        privileged: false
`,
		FalsePositives: "A Docker-in-Docker companion needs it; suppress the finding there with that reason.",
		PSS:            &finding.PSS{Level: "baseline", Check: "privileged"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
		},
	},
	{
		Name:        "root-user",
		Title:       "A container or the Pod asks for the root user",
		Group:       "privilege",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "runAsUser: 0 overrides whatever user the image names. Root in a container owns every file of the image and the workspace, and is one kernel or runtime flaw away from root on the node, unless the Pod has a user namespace of its own (hostUsers: false, which the restricted standard accepts from Kubernetes 1.35).",
		Remedy:      "Set runAsUser to a user ID other than 0, or leave it to the image and set runAsNonRoot: true.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 0
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
`,
		FalsePositives: "A container engine's daemon runs as root by design; suppress the finding on that companion.",
		PSS:            &finding.PSS{Level: "restricted", Check: "runAsUser"},
		References: []string{
			"https://kubernetes.io/docs/concepts/security/pod-security-standards/",
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "endless-init-container",
		Title:       "An init container never ends",
		Group:       "session",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "The kubelet starts the agent only when each init container has ended. One that sleeps for ever or loops without a way out keeps the session in Init for ever. A native sidecar, an init container with restartPolicy: Always, is meant to run on.",
		Remedy:      "Let the command end, or set restartPolicy: Always on the init container to make it a native sidecar.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    initContainers:
    - name: proxy
      image: registry.example/proxy:1
      command: [sh, -c, "start-proxy & sleep infinity"]
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    initContainers:
    - name: proxy
      image: registry.example/proxy:1
      command: [sh, -c, "start-proxy & sleep infinity"]
      restartPolicy: Always
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A script that ends its own endless loop or sleep by a signal. A loop with break, exit or return is not reported.",
		References: []string{
			"https://kubernetes.io/docs/concepts/workloads/pods/init-containers/",
			"https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/",
		},
	},
	{
		Name:        "fs-group-missing",
		Title:       "A container cannot write to the workspace without fsGroup",
		Group:       "session",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A new claim belongs to root and is closed to others, so that an agent that does not run as root cannot clone into it, unless fsGroup gives the volume to a group of the Pod. And where a companion with a writable grant has another user than the agent, neither can change what the other made there: fsGroup is the group that both have, though each still writes new files with its own umask. What an existing claim holds is not known, and an emptyDir is open to all users, so an agent on these is not reported.",
		Remedy:      "Set securityContext.fsGroup on the Pod, to the agent's group ID.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
    - name: tools
      image: registry.example/tools:2.1
      securityContext:
        runAsUser: 2000
      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      fsGroup: 1000
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
    - name: tools
      image: registry.example/tools:2.1
      securityContext:
        runAsUser: 2000
      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
`,
		FalsePositives: "A storage class that opens new volumes to every user, as some provisioners of node-local and network file systems do.",
		References: []string{
			"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
		},
	},
	{
		Name:        "image-not-pinned",
		Title:       "An image can change without the template",
		Group:       "session",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "A tag can be pushed again. A session that is replaced later, or on another node, may then run something else than the one that was reviewed; a privileged container runs it with the power of the node, for which this is a warning. A digest names one image for ever, beside a tag too. Without a digest and with the tag latest or none, the image changes with every release.",
		Remedy:      "Write the image as NAME:TAG@sha256:DIGEST.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70
`,
		FalsePositives: "A registry that does not let a tag be pushed twice, and an image that is rewritten to a digest by admission.",
		References: []string{
			"https://kubernetes.io/docs/concepts/containers/images/#image-names",
		},
	},
	{
		Name:        "main-container-probe",
		Title:       "A probe restarts the agent for what it cannot do",
		Group:       "session",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "Kandev replaces the main container's command: until the upload is complete it waits and listens on nothing, and afterwards the agent listens on loopback, where the kubelet does not reach it. A livenessProbe or startupProbe over the network therefore fails, and after failureThreshold failures the kubelet restarts the container, again and again. What an exec probe asks is not known, so it is not reported; it too runs while the container waits for its upload.",
		Remedy:      "Remove the probe; Kandev watches the agent through its control port.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      livenessProbe:
        httpGet:
          path: /healthz
          port: 3000
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
    - name: cache
      image: registry.example/cache:3
      livenessProbe:
        tcpSocket:
          port: 6379
`,
		FalsePositives: "A probe of a port that a companion serves: all containers of a Pod share its address. It belongs on the companion.",
		References: []string{
			"https://kubernetes.io/docs/concepts/workloads/pods/probes/",
		},
	},
	{
		Name:        "session-interrupted",
		Title:       "The template lets a session die or wait without end",
		Group:       "session",
		Source:      finding.Policy,
		Severity:    finding.Warning,
		Description: "A session lives until it is deleted. activeDeadlineSeconds makes the kubelet kill the Pod at a time of its own, whatever the agent is doing, and a Pod that it killed is not started again. A scheduling gate keeps the Pod pending until somebody removes the gate, which Kandev does not. Gates that admission adds, such as those of a queue, are removed by what added them and are not reported.",
		Remedy:      "Remove activeDeadlineSeconds and schedulingGates.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    activeDeadlineSeconds: 3600
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    terminationGracePeriodSeconds: 60
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`,
		FalsePositives: "A deadline that is meant as the last bound on cost; a gate that a controller of the cluster removes. Public Pods leave deadlines to Jobs and gates to queues: no template of the public corpus shows this rule.",
		References: []string{
			"https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/",
			"https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/",
		},
	},
	{
		Name:        "session-unbounded",
		Title:       "Nothing bounds what a session takes of its node",
		Group:       "session",
		Source:      finding.Policy,
		Severity:    finding.Info,
		Description: "The agent's home is in memory, and so is everything that it installs or caches there: without a memory limit it can take the node's, and other Pods die for it. What it writes elsewhere outside the workspace fills the node's disk until the kubelet evicts Pods, unless ephemeral-storage has a limit; mind that the Pod's disk-backed emptyDirs count against the sum of its containers' limits. An emptyDir in memory without a sizeLimit counts against the memory of the containers that write to it. Nested containers are bounded by the memory limit of their Docker engine at most, so one without is a warning. The kubelet takes a limit or a sizeLimit of 0 for none.",
		Remedy:      "Set resources.limits for memory and ephemeral-storage on the agent, for memory on a Docker engine, and a sizeLimit on memory-backed volumes.",
		Bad: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      resources:
        requests: {memory: 2Gi}
`,
		Good: `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      resources:
        requests: {memory: 2Gi}
        limits: {memory: 8Gi, ephemeral-storage: 10Gi}
`,
		FalsePositives: "A namespace whose LimitRange sets the limits at admission, and nodes that run one session each.",
		References: []string{
			"https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
			"https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
		},
	},
}

// needs lists, by a rule's package, keys of which a document must hold one for the rule to find anything in it.
var needs = map[string][]string{
	"agent_not_confined":              {"kandev.unconfined.agents"},
	"privileged_workspace_grant":      {"kandev.grants"},
	"apparmor_unconfined":             {"kandev.unconfined.appArmorProfile", "container.apparmor.security.beta.kubernetes.io/"},
	"proc_mount_not_default":          {"procMount"},
	"seccomp_annotation":              {"seccomp.security.alpha.kubernetes.io/", "container.seccomp.security.alpha.kubernetes.io/"},
	"seccomp_unconfined":              {"kandev.unconfined.seccompProfile"},
	"seccomp_unset":                   {"kandev.unset.seccompProfile", "kandev.unconfined.seccompProfile"},
	"selinux_options":                 {"seLinuxOptions"},
	"unmasked_proc":                   {"procMount"},
	"unsafe_sysctl":                   {"sysctls"},
	"kube_api_access_volume":          {"name=kube-api-access-*"},
	"projected_service_account_token": {"projected"},
	"service_account_token":           {"automountServiceAccountToken=true"},
	"shared_process_namespace":        {"shareProcessNamespace=true"},
	"docker_data_volume":              {"kandev.engines"},
	"docker_engine_user":              {"kandev.engines"},
	"docker_socket":                   {"kandev.engines"},
	"docker_tcp_listener":             {"kandev.engines"},
	"host_namespace":                  {"hostNetwork=true", "hostPID=true", "hostIPC=true"},
	"host_path":                       {"hostPath"},
	"host_port":                       {"hostPort"},
	"host_user_namespace":             {"kandev.privileged", "kandev.adds"},
	"probe_host":                      {"host"},
	"sensitive_host_path":             {"hostPath"},
	"windows_host_process":            {"windowsOptions"},
	"restricted_volume":               {"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"},
	"sub_path_expansion":              {"subPathExpr"},
	"added_capability":                {"kandev.adds"},
	"baseline_capability":             {"kandev.adds"},
	"capabilities_not_dropped":        {"kandev.unset.dropAll", "kandev.adds"},
	"non_root_not_required":           {"kandev.unset.runAsNonRoot", "kandev.unconfined.runAsNonRoot"},
	"privilege_escalation":            {"kandev.unconfined.allowPrivilegeEscalation"},
	"privilege_escalation_unset":      {"kandev.unset.allowPrivilegeEscalation"},
	"privileged_container":            {"kandev.privileged"},
	"root_user":                       {"kandev.unconfined.runAsUser"},
	"endless_init_container":          {"initContainers"},
	"fs_group_missing":                {"kandev.unset.fsGroup"},
	"image_not_pinned":                {"kandev.unset.digest"},
	"main_container_probe":            {"livenessProbe", "startupProbe"},
	"session_interrupted":             {"activeDeadlineSeconds", "schedulingGates"},
	"session_unbounded":               {},
}
