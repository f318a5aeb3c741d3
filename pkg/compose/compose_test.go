package compose

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// fullTemplate uses most of what a template may say.
const fullTemplate = `# the agent, a companion with the workspace, and an init container
apiVersion: v1
kind: PodTemplate
metadata:
  name: full
template:
  metadata:
    labels:
      team.example/name: core
    annotations:
      note.example/text: "<a> & \"b\""
  spec:
    serviceAccountName: agents
    nodeSelector:
      pool.example/agents: "true"
    affinity:
      nodeAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 1
          preference:
            matchExpressions:
            - key: pool.example/size
              operator: In
              values: [large]
    securityContext:
      fsGroup: 1000
    initContainers:
    - name: logger
      image: registry.example/logger:1
      restartPolicy: Always
      readinessProbe:
        tcpSocket:
          port: 9000
    containers:
    - name: docker-engine
      image: registry.example/dind:27
      env:
      - name: DOCKER_TLS_CERTDIR
        value: ""
      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
      - name: docker
        mountPath: /var/lib/docker
    - name: kandev-agent
      image: registry.example/agent:1.4
      env:
      - name: DOCKER_HOST
        value: unix:///var/run/docker/docker.sock
      envFrom:
      - prefix: CFG_
        configMapRef:
          name: settings
      ports:
      - containerPort: 8080
      resources:
        requests: {cpu: 0.5, memory: 1024Mi}
        limits: {memory: 2Gi}
      volumeMounts:
      - name: socket
        mountPath: /var/run/docker
    volumes:
    - name: docker
      emptyDir: {sizeLimit: 20Gi}
    - name: socket
      emptyDir: {}
`

func TestComposedObjects(t *testing.T) {
	for name, p := range exampleProfiles {
		tmpl := spec(t, fullTemplate)
		before := fmt.Sprint(tmpl)
		objects, err := Compose(tmpl, p, exampleIdentity)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(tmpl) != before {
			t.Errorf("%s: the template was changed", name)
		}
		// The bootstrap script has its tests beside it.
		for i := range objects.Pod.Spec.Containers {
			if c := &objects.Pod.Spec.Containers[i]; c.Name == DefaultMainContainer {
				c.Command[2] = "<bootstrap>"
			}
		}
		text := toYAML(t, objects.Pod)
		if objects.Claim != nil {
			text += "---\n" + toYAML(t, objects.Claim)
		}
		golden(t, "composed_"+name+".yaml", text)
	}
}

func toYAML(t *testing.T, object any) string {
	t.Helper()
	b, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestComposeKeepsTheTemplatesTokenChoice(t *testing.T) {
	objects, err := Compose(spec(t, example("    automountServiceAccountToken: true\n"+agent)), Profile{}, exampleIdentity)
	if err != nil || !*objects.Pod.Spec.AutomountServiceAccountToken {
		t.Errorf("automountServiceAccountToken is not kept: %v", err)
	}
}

func TestComposeNamesEverythingThatIsWrong(t *testing.T) {
	tmpl := spec(t, example("    hostname: a\n    restartPolicy: Never\n"))
	_, err := Compose(tmpl, Profile{Platform: "x"}, Identity{})
	text := fmt.Sprint(err)
	for _, want := range []string{"executor-id", "environment-id", "platform", RuleMainContainerMissing, RuleOwnedRestartPolicy} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

func TestComposeRefusesTheManagedClaimUnderAnotherName(t *testing.T) {
	tmpl := spec(t, example(agent+"    volumes:\n    - name: mine\n      persistentVolumeClaim:\n        claimName: "+exampleIdentity.ClaimName()+"\n"))
	if _, err := Compose(tmpl, Profile{}, exampleIdentity); err == nil || !strings.Contains(err.Error(), RuleOwnedClaim) {
		t.Errorf("error %v, want %s", err, RuleOwnedClaim)
	}
	if _, err := Compose(tmpl, Profile{Workspace: Workspace{Mode: EmptyDir}}, exampleIdentity); err != nil {
		t.Errorf("in another mode: %v", err)
	}
}

func TestNonce(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		n := NewNonce()
		if !IsNonce(n) || seen[n] {
			t.Fatalf("nonce %q", n)
		}
		seen[n] = true
	}
	for _, bad := range []string{"", strings.Repeat("a", 63), strings.Repeat("a", 65), strings.Repeat("A", 64), strings.Repeat("g", 64), strings.Repeat("é", 32)} {
		if IsNonce(bad) {
			t.Errorf("%q counts as a nonce", bad)
		}
	}
	objects, err := Compose(spec(t, fullTemplate), Profile{}, exampleIdentity)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := objects.Pod.Annotations[NonceAnnotation]; ok {
		t.Error("a composed Pod has a nonce already")
	}
	before := objects.Pod.Annotations
	SetNonce(objects.Pod, "n")
	SetNonce(objects.Claim, "m")
	if objects.Pod.Annotations[NonceAnnotation] != "n" || objects.Claim.Annotations[NonceAnnotation] != "m" || objects.Pod.Annotations["note.example/text"] == "" {
		t.Errorf("annotations %v, %v", objects.Pod.Annotations, objects.Claim.Annotations)
	}
	if _, ok := before[NonceAnnotation]; ok {
		t.Error("the map that others hold was changed")
	}
}

func TestIdentity(t *testing.T) {
	if got, want := PodName("instance-1"), "kandev-6212a06cac8b50f7"; got != want {
		t.Errorf("PodName = %q, want %q", got, want)
	}
	if got := exampleIdentity.ClaimName(); got != exampleIdentity.PodName()+"-workspace" {
		t.Errorf("ClaimName = %q", got)
	}
	golden(t, "labels.yaml", toYAML(t, exampleIdentity.Labels()))
	if errs := exampleIdentity.Validate(); len(errs) > 0 {
		t.Errorf("a good identity: %v", errs)
	}
	for field, change := range map[string]func(*Identity){
		"executor-id":    func(i *Identity) { i.ExecutorID = "" },
		"profile-id":     func(i *Identity) { i.ProfileID = "a b" },
		"instance-id":    func(i *Identity) { i.InstanceID = strings.Repeat("a", 64) },
		"task-id":        func(i *Identity) { i.TaskID = "-a" },
		"session-id":     func(i *Identity) { i.SessionID = "a_" },
		"environment-id": func(i *Identity) { i.EnvironmentID = "é" },
		"name":           func(i *Identity) { i.Name = "A" },
		"namespace":      func(i *Identity) { i.Namespace = "a.b" },
	} {
		id := exampleIdentity
		change(&id)
		errs := id.Validate()
		if len(errs) == 0 || errs[0].Field != field {
			t.Errorf("%s: %v", field, errs)
		}
	}
}
