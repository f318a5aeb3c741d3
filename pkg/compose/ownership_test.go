package compose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// meta completes a template whose Pod has the given metadata.
func meta(lines string) string {
	return "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata:\n" + lines + "  spec:\n" + agent
}

// mounts completes a template whose containers mount a volume of their own.
func mounts(container, lines string) string {
	return example(container + "      volumeMounts:\n" + lines + "    volumes:\n    - name: data\n      emptyDir: {}\n")
}

func mountAt(path string) string { return "      - name: data\n        mountPath: " + path + "\n" }

const (
	grantLines = "      - name: kandev-workspace\n        mountPath: /workspace\n"
	initAgent  = agent + "    initContainers:\n    - name: setup\n      image: registry.example/tools:2.1\n"
	sidecarTwo = "    - name: more\n      image: registry.example/tools:2.1\n"
)

func affinity(list, term string) string {
	if list == "required" {
		return example(agent + "    affinity:\n      nodeAffinity:\n        requiredDuringSchedulingIgnoredDuringExecution:\n          nodeSelectorTerms:\n          - " + term)
	}
	return example(agent + "    affinity:\n      nodeAffinity:\n        preferredDuringSchedulingIgnoredDuringExecution:\n        - weight: 1\n          preference:\n            " + term)
}

// rejected are templates and everything that they break, as "rule path".
var rejected = []struct {
	text string
	want []string
}{
	{meta("    name: x\n    generateName: g\n    namespace: z\n    uid: u\n    resourceVersion: \"1\"\n    generation: 1\n    selfLink: s\n"), []string{
		"owned-metadata template.metadata.name", "owned-metadata template.metadata.generateName", "owned-metadata template.metadata.namespace",
		"owned-metadata template.metadata.selfLink", "owned-metadata template.metadata.uid", "owned-metadata template.metadata.resourceVersion",
		"owned-metadata template.metadata.generation",
	}},
	{meta("    creationTimestamp: 2026-01-01T00:00:00Z\n    deletionTimestamp: 2026-01-01T00:00:00Z\n    deletionGracePeriodSeconds: 0\n    finalizers: [a.example/b]\n    managedFields: [{manager: m}]\n    ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]\n"), []string{
		"owned-metadata template.metadata.creationTimestamp", "owned-metadata template.metadata.deletionTimestamp",
		"owned-metadata template.metadata.deletionGracePeriodSeconds", "owned-metadata template.metadata.ownerReferences",
		"owned-metadata template.metadata.finalizers", "owned-metadata template.metadata.managedFields",
	}},
	{meta("    labels:\n      app.kubernetes.io/name: a\n      app.kubernetes.io/component: a\n      app.kubernetes.io/managed-by: a\n      app.kubernetes.io/instance: a\n      kandev.ai/x: a\n    annotations:\n      kandev.ai/create-nonce: a\n      app.kubernetes.io/name: b\n"), []string{
		"reserved-metadata template.metadata.labels[app.kubernetes.io/component]", "reserved-metadata template.metadata.labels[app.kubernetes.io/instance]",
		"reserved-metadata template.metadata.labels[app.kubernetes.io/managed-by]", "reserved-metadata template.metadata.labels[app.kubernetes.io/name]",
		"reserved-metadata template.metadata.labels[kandev.ai/x]",
		"reserved-metadata template.metadata.annotations[app.kubernetes.io/name]", "reserved-metadata template.metadata.annotations[kandev.ai/create-nonce]",
	}},
	{example("    restartPolicy: Always\n    nodeName: node-1\n    os: {name: linux}\n" + agent), []string{
		"owned-restart-policy template.spec.restartPolicy", "owned-node-name template.spec.nodeName", "owned-os template.spec.os",
	}},
	{example("    nodeSelector: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}\n" + agent), []string{
		"owned-node-selector template.spec.nodeSelector[kubernetes.io/os]", "owned-node-selector template.spec.nodeSelector[kubernetes.io/arch]",
	}},
	{affinity("required", "matchExpressions: [{key: kubernetes.io/arch, operator: Exists}]\n"), []string{
		"owned-node-affinity template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key",
	}},
	{affinity("preferred", "matchExpressions: [{key: a.example/b, operator: Exists}, {key: kubernetes.io/os, operator: In, values: [linux]}]\n"), []string{
		"owned-node-affinity template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[1].key",
	}},
	{affinity("required", "matchFields: [{key: kubernetes.io/os, operator: In, values: [linux]}]\n"), []string{
		"owned-node-affinity template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key",
	}},
	{example(agent + "    volumes:\n    - {name: kandev-runtime, emptyDir: {}}\n    - {name: kandev-auth, emptyDir: {}}\n    - {name: kandev-workspace, emptyDir: {}}\n"), []string{
		"owned-volume template.spec.volumes[0].name", "owned-volume template.spec.volumes[1].name", "owned-volume template.spec.volumes[2].name",
	}},
	{example(agent + "    ephemeralContainers:\n    - name: debug\n      image: a\n      env: [{name: HOME, value: x}]\n      volumeMounts: [{name: kandev-workspace, mountPath: /workspace}]\n"), []string{
		"ephemeral-containers template.spec.ephemeralContainers", "reserved-env template.spec.ephemeralContainers[0].env[0].name",
		"workspace-grant-recipient template.spec.ephemeralContainers[0].volumeMounts[0].name",
	}},
	{example("    containers:\n    - name: app\n      image: a\n    initContainers:\n    - name: kandev-agent\n      image: a\n"), []string{"main-container-missing template.spec.containers"}},
	{example("    hostname: a\n"), []string{"main-container-missing template.spec.containers"}},
	{example(agent + agent[len("    containers:\n"):]), []string{"main-container-duplicate template.spec.containers[1].name"}},
	{example("    containers:\n    - name: kandev-agent\n"), []string{"main-container-image template.spec.containers[0].image"}},
	{example(agent + "      command: [a]\n      args: [b]\n      workingDir: /c\n"), []string{
		"owned-entrypoint template.spec.containers[0].command", "owned-entrypoint template.spec.containers[0].args", "owned-entrypoint template.spec.containers[0].workingDir",
	}},
	{example(agent + "      volumeMounts:\n" + grantLines + "      - {name: kandev-runtime, mountPath: /a}\n      - {name: kandev-auth, mountPath: /b}\n"), []string{
		"owned-volume-mount template.spec.containers[0].volumeMounts[0].name", "owned-volume-mount template.spec.containers[0].volumeMounts[1].name",
		"owned-volume-mount template.spec.containers[0].volumeMounts[2].name",
	}},
	{example(agent + sidecar + "      volumeDevices:\n      - {name: kandev-workspace, devicePath: /dev/a}\n"), []string{"owned-volume-mount template.spec.containers[1].volumeDevices[0].name"}},
	{example(agent + sidecar + "      volumeMounts:\n      - {name: kandev-runtime, mountPath: /a}\n"), []string{"owned-volume-mount template.spec.containers[1].volumeMounts[0].name"}},
	{example(agent + "      env: [{name: HOME}, {name: AGENTCTL_}, {name: KANDEV_X}]\n"), []string{
		"reserved-env template.spec.containers[0].env[0].name", "reserved-env template.spec.containers[0].env[1].name", "reserved-env template.spec.containers[0].env[2].name",
	}},
	{example(initAgent + "      restartPolicy: Always\n      env: [{name: KANDEV_X}]\n      ports: [{containerPort: 8765}]\n"), []string{
		"reserved-env template.spec.initContainers[0].env[0].name", "control-port template.spec.initContainers[0].ports[0].containerPort",
	}},
	{example(agent + "      envFrom:\n      - configMapRef: {name: a}\n      - {prefix: KAN, secretRef: {name: a}}\n      - {prefix: KANDEV_X, secretRef: {name: a}}\n      - {prefix: HO, secretRef: {name: a}}\n      - {prefix: HOME, secretRef: {name: a}}\n      - {prefix: AGENTCTL, secretRef: {name: a}}\n"), []string{
		"reserved-env-from template.spec.containers[0].envFrom[0]", "reserved-env-from template.spec.containers[0].envFrom[1].prefix",
		"reserved-env-from template.spec.containers[0].envFrom[2].prefix", "reserved-env-from template.spec.containers[0].envFrom[3].prefix",
		"reserved-env-from template.spec.containers[0].envFrom[4].prefix", "reserved-env-from template.spec.containers[0].envFrom[5].prefix",
	}},
	{example(agent + sidecar + "      ports:\n      - {name: kandev-agentctl, containerPort: 9000}\n      - {containerPort: 8765, protocol: UDP}\n"), []string{
		"control-port template.spec.containers[1].ports[0].name", "control-port template.spec.containers[1].ports[1].containerPort",
	}},
	// vcluster #2169: all of these are /workspace.
	{mounts(agent, mountAt("/workspace/")), []string{"owned-path template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent, mountAt("workspace")), []string{"owned-path template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent, mountAt("/x/../workspace")), []string{"owned-path template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent, mountAt("//workspace//a/.")), []string{"owned-path template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent, mountAt("/var/run/kandev")), []string{"owned-path template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent+sidecar, mountAt("/var/run")), []string{"owned-path-ancestor template.spec.containers[1].volumeMounts[0].mountPath"}},
	{example(agent + "      terminationMessagePath: /run/kandev/auth.env\n" + sidecar + "      terminationMessagePath: /workspace/../workspace/log\n"), []string{
		"owned-path template.spec.containers[0].terminationMessagePath", "owned-path template.spec.containers[1].terminationMessagePath",
	}},
	{example(agent + sidecar + "      env: [{name: A, valueFrom: {fileKeyRef: {volumeName: kandev-auth, path: auth.env, key: TOKEN}}}]\n"), []string{
		"owned-volume-mount template.spec.containers[1].env[0].valueFrom.fileKeyRef.volumeName",
	}},
	{example(agent + sidecar + "      volumeMounts: [{name: kandev-workspace, mountPath: /workspace, bindMountOptions: [noexec]}]\n"), []string{
		"workspace-grant-shape template.spec.containers[1].volumeMounts[0].bindMountOptions",
	}},
	{mounts(agent+sidecar, mountAt("/run/kandev/home")), []string{"owned-path template.spec.containers[1].volumeMounts[0].mountPath"}},
	{mounts(initAgent, mountAt("/opt/kandev")), []string{"owned-path template.spec.initContainers[0].volumeMounts[0].mountPath"}},
	{example(agent + "      volumeDevices: [{name: data, devicePath: /workspace/dev}]\n    volumes:\n    - name: data\n      persistentVolumeClaim: {claimName: c}\n"), []string{"owned-path template.spec.containers[0].volumeDevices[0].devicePath"}},
	// mvm #2805: an ancestor is a warning without a grant, an error with one.
	{mounts(agent, mountAt("/")), []string{"owned-path-ancestor template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent, mountAt("/run")), []string{"owned-path-ancestor template.spec.containers[0].volumeMounts[0].mountPath"}},
	{mounts(agent+sidecar, mountAt("opt/")), []string{"owned-path-ancestor template.spec.containers[1].volumeMounts[0].mountPath"}},
	{mounts(agent+sidecar, grantLines+mountAt("/")), []string{"workspace-grant-overlap template.spec.containers[1].volumeMounts[1].mountPath"}},
	{mounts(agent+sidecar, grantLines+mountAt("/run")), []string{"workspace-grant-overlap template.spec.containers[1].volumeMounts[1].mountPath"}},
	{mounts(agent+sidecar, mountAt("/workspace/a")+grantLines), []string{"workspace-grant-overlap template.spec.containers[1].volumeMounts[0].mountPath"}},
	{mounts(agent+sidecar, grantLines+mountAt("workspace")), []string{"workspace-grant-overlap template.spec.containers[1].volumeMounts[1].mountPath"}},
	{mounts(agent+sidecar, grantLines+mountAt("/opt/kandev/x")), []string{"owned-path template.spec.containers[1].volumeMounts[1].mountPath"}},
	{mounts(initAgent, grantLines), []string{"workspace-grant-recipient template.spec.initContainers[0].volumeMounts[0].name"}},
	{mounts(initAgent+"      restartPolicy: Always\n", grantLines+"        readOnly: true\n"), []string{"workspace-grant-recipient template.spec.initContainers[0].volumeMounts[0].name"}},
	{mounts(agent+sidecar, grantLines+grantLines), []string{"workspace-grant-duplicate template.spec.containers[1].volumeMounts[1]"}},
	{mounts(agent+sidecar, strings.Replace(grantLines, "/workspace\n", "/workspace/\n", 1)), []string{"workspace-grant-shape template.spec.containers[1].volumeMounts[0].mountPath"}},
	{mounts(agent+sidecar, strings.Replace(grantLines, "/workspace\n", "/src\n", 1)), []string{"workspace-grant-shape template.spec.containers[1].volumeMounts[0].mountPath"}},
	{mounts(agent+sidecar, grantLines+"        subPath: a\n"), []string{"workspace-grant-shape template.spec.containers[1].volumeMounts[0].subPath"}},
	{mounts(agent+sidecar, grantLines+"        subPathExpr: $(A)\n"), []string{"workspace-grant-shape template.spec.containers[1].volumeMounts[0].subPathExpr"}},
	{mounts(agent+sidecar, grantLines+"        mountPropagation: None\n"), []string{"workspace-grant-shape template.spec.containers[1].volumeMounts[0].mountPropagation"}},
	{mounts(agent+sidecar, grantLines+"        readOnly: true\n        recursiveReadOnly: Disabled\n"), []string{"workspace-grant-shape template.spec.containers[1].volumeMounts[0].recursiveReadOnly"}},
	// polaris #1110: the finding of the second companion carries its own index.
	{mounts(agent+sidecar+sidecarTwo, grantLines+"        subPath: a\n"), []string{"workspace-grant-shape template.spec.containers[2].volumeMounts[0].subPath"}},
	// Values that are null or absent.
	{"apiVersion: v1\nkind: PodTemplate\n", []string{"main-container-missing template.spec.containers"}},
	{"apiVersion: v1\nkind: PodTemplate\ntemplate: ~\n", []string{"main-container-missing template.spec.containers"}},
	{"apiVersion: v1\nkind: PodTemplate\ntemplate: {}\n", []string{"main-container-missing template.spec.containers"}},
	{"apiVersion: v1\nkind: PodTemplate\ntemplate:\n  spec: null\n", []string{"main-container-missing template.spec.containers"}},
	{"apiVersion: v1\nkind: PodTemplate\ntemplate:\n  spec:\n    containers: null\n", []string{"main-container-missing template.spec.containers"}},
	{example("    containers: []\n"), []string{"main-container-missing template.spec.containers"}},
}

// pathsOf lists violations as "rule path", those of the API server's rules left out: they have their tests in podrules.
func pathsOf(violations []Violation) []string {
	out := []string{}
	for _, v := range violations {
		if v.Source != "api" {
			out = append(out, fmt.Sprintf("%s %s", v.Rule, v.Path))
		}
	}
	return out
}

func TestRejectedTemplates(t *testing.T) {
	for _, row := range rejected {
		tmpl, violations := ParseTemplate([]byte(row.text))
		if len(violations) > 0 {
			t.Errorf("%v\n%s", violations, row.text)
			continue
		}
		if got := pathsOf(tmpl.Validate(Profile{})); !slices.Equal(got, row.want) {
			t.Errorf("got %q\nwant %q\n%s", got, row.want, row.text)
		}
	}
}

func TestAcceptedTemplates(t *testing.T) {
	for _, text := range []string{
		goodTemplate, fullTemplate,
		meta("    labels: {app.kubernetes.io/version: a, kandev.ai: b, xkandev.ai/a: c}\n    annotations: {app.kubernetes.io/part-of: d}\n"),
		example("    nodeSelector: {kubernetes.io/hostname: a}\n" + agent),
		affinity("required", "matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]\n"),
		affinity("required", "matchFields: [{key: metadata.name, operator: In, values: [a]}]\n"),
		example(agent + "      env: [{name: HOMES}, {name: AGENTCTL}, {name: KANDEV}, {name: home}]\n"),
		example(agent + "      envFrom: [{prefix: KANDEVX, configMapRef: {name: a}}, {prefix: HOMER, configMapRef: {name: a}}, {prefix: B, configMapRef: {name: a}}]\n"),
		example(agent + "      ports: [{name: agentctl, containerPort: 8764}]\n"),
		example(agent + "      command: []\n      args: []\n      workingDir: \"\"\n"),
		mounts(agent, mountAt("/workspaces")), mounts(agent, mountAt("/opt/kandevx")), mounts(agent, mountAt("/run/other")), mounts(agent, mountAt("/x")),
		mounts(agent+sidecar, grantLines), mounts(agent+sidecar, grantLines+"        readOnly: true\n"), mounts(agent+sidecar, grantLines+"        readOnly: false\n"),
		mounts(agent+sidecar, grantLines+mountAt("/data")),
		example(agent + sidecar + "      volumeMounts:\n" + grantLines + sidecarTwo + "      volumeMounts:\n" + grantLines),
		mounts(initAgent+"      restartPolicy: Always\n      livenessProbe: {tcpSocket: {port: 1}}\n", mountAt("/data")),
		example(agent + "    volumes:\n    - name: other\n      persistentVolumeClaim: {claimName: other}\n"),
	} {
		if got := findings([]byte(text)); len(got) > 0 {
			t.Errorf("%v\n%s", got, text)
		}
	}
}

func TestMainContainerOfTheProfile(t *testing.T) {
	tmpl, _ := ParseTemplate([]byte(example("    containers:\n    - name: app\n      image: a\n      command: [x]\n    - name: kandev-agent\n      image: a\n      command: [x]\n")))
	got := pathsOf(tmpl.Validate(Profile{MainContainer: "app"}))
	if want := []string{"owned-entrypoint template.spec.containers[0].command"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOwnClaimInEveryMode(t *testing.T) {
	alias := example(agent + "    volumes:\n    - name: mine\n      persistentVolumeClaim: {claimName: shared}\n")
	ephemeral := example(agent + "    volumes:\n    - name: workspace\n      ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}\n")
	clone := example(agent + "    volumes:\n    - name: mine\n      ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {kind: PersistentVolumeClaim, name: shared}}}}\n")
	for _, c := range []struct {
		text, mode, want string
	}{
		{clone, "existing_claim", "[owned-claim template.spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource.name]"},
		{clone, "managed_pvc", "[]"},
		{alias, "existing_claim", "[owned-claim template.spec.volumes[0].persistentVolumeClaim.claimName]"},
		{alias, "managed_pvc", "[]"},
		{alias, "empty_dir", "[]"},
		{ephemeral, "managed_pvc", "[owned-claim template.spec.volumes[0].name]"},
		{ephemeral, "empty_dir", "[]"},
	} {
		tmpl, _ := ParseTemplate([]byte(c.text))
		if got := fmt.Sprint(pathsOf(tmpl.Validate(exampleProfiles[c.mode]))); got != c.want {
			t.Errorf("%s: %s, want %s", c.mode, got, c.want)
		}
	}
}

func TestPodSpecsOfReports(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"regolibrary 709": {agent + "    ephemeralContainers: [{name: d, image: i}]\n", RuleEphemeralContainers},
		"keel 772":        {initAgent + "      restartPolicy: Always\n      startupProbe: {exec: {command: [a]}}\n", ""},
		"procMount":       {agent + "      securityContext: {procMount: Unmasked}\n", RuleAPISecurity},
		"hostPath ..":     {agent + "    volumes: [{name: a, hostPath: {path: /var/run/../run/docker.sock}}]\n", RuleAPIVolume},
		"hostPort 0":      {agent + "      ports: [{containerPort: 1, hostPort: 0}]\n", ""},
	} {
		got := rulesOf(findings([]byte(example(c.spec))))
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

func TestGrantMode(t *testing.T) {
	tmpl := spec(t, goodGrant)
	m := &tmpl.Spec.Containers[1].VolumeMounts[0]
	if Mode(m) != GrantReadOnly {
		t.Errorf("read-only is %s", Mode(m))
	}
	if m.ReadOnly = false; Mode(m) != GrantReadWrite {
		t.Errorf("read-write is %s", Mode(m))
	}
}

// TestLabelsOfTheComposedPodCount: what the API server refuses because of a label that only Kandev sets.
func TestLabelsOfTheComposedPodCount(t *testing.T) {
	tmpl, _ := ParseTemplate([]byte(example(agent + "    affinity:\n      podAffinity:\n        requiredDuringSchedulingIgnoredDuringExecution:\n        - topologyKey: zone\n          labelSelector: {matchLabels: {app.kubernetes.io/name: a}}\n          matchLabelKeys: [app.kubernetes.io/name]\n")))
	got := tmpl.Validate(Profile{})
	if len(got) != 1 || got[0].Rule != RuleAPIScheduling || !strings.Contains(got[0].Detail, "exists in both matchLabelKeys and labelSelector") {
		t.Errorf("got %v, want one %s", got, RuleAPIScheduling)
	}
}
