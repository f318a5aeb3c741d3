package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// edit does to a decoded template what a finding's remediation says.
type edit func(object map[string]any, f finding.Finding)

// remedies says for each rule how a reader would carry its remediation out.
var remedies = map[string]edit{
	"main-container-missing":          rename("template.spec.containers[0]"),
	"main-container-image":            setTo("registry.example/agent:1"),
	"main-container-duplicate":        setTo("another-name"),
	"owned-metadata":                  remove,
	"reserved-metadata":               remove,
	"owned-restart-policy":            remove,
	"owned-node-name":                 remove,
	"owned-node-selector":             remove,
	"owned-node-affinity":             removeParent,
	"owned-entrypoint":                remove,
	"owned-path":                      setTo("/data"),
	"owned-path-ancestor":             setTo("/data"),
	"reserved-env":                    setTo("TOOL_HOME"),
	"reserved-env-from":               setBelow("prefix", "CFG_"),
	"control-port":                    setTo(9000),
	"ephemeral-containers":            remove,
	"document-unknown-field":          remove,
	"document-wrong-type":             correctType,
	"document-boolean":                setTo(true),
	"api-pod":                         correct,
	"api-metadata":                    correct,
	"api-container":                   correct,
	"api-image":                       correct,
	"api-env":                         correct,
	"api-port":                        correct,
	"api-probe":                       correct,
	"api-resources":                   correct,
	"api-scheduling":                  correct,
	"api-security":                    correct,
	"api-volume":                      correct,
	"api-volume-mount":                correct,
	"api-dns":                         correct,
	"agent-not-confined":              confine,
	"endless-init-container":          setBelow("restartPolicy", "Always"),
	"fs-group-missing":                fsGroup,
	"image-not-pinned":                pin,
	"main-container-probe":            remove,
	"session-unbounded":               bound,
	"added-capability":                remove,
	"baseline-capability":             remove,
	"capabilities-not-dropped":        secure("capabilities", map[string]any{"drop": []any{"ALL"}}),
	"apparmor-unconfined":             setTo("RuntimeDefault"),
	"host-namespace":                  remove,
	"host-path":                       setParent("emptyDir", map[string]any{}),
	"sensitive-host-path":             removeItem,
	"host-port":                       remove,
	"host-user-namespace":             setBelow("hostUsers", false),
	"kube-api-access-volume":          setTo("other-token"),
	"non-root-not-required":           secure("runAsNonRoot", true),
	"privilege-escalation":            setTo(false),
	"privilege-escalation-unset":      secure("allowPrivilegeEscalation", false),
	"privileged-container":            remove,
	"probe-host":                      remove,
	"projected-service-account-token": removeParent,
	"proc-mount-not-default":          remove,
	"restricted-volume":               setParent("emptyDir", map[string]any{}),
	"root-user":                       setTo(1000),
	"seccomp-annotation":              remove,
	"seccomp-unconfined":              setTo("RuntimeDefault"),
	"seccomp-unset":                   seccompDefault,
	"selinux-options":                 remove,
	"service-account-token":           remove,
	"shared-process-namespace":        remove,
	"sub-path-expansion":              remove,
	"unmasked-proc":                   remove,
	"unsafe-sysctl":                   removeParent,
	"windows-host-process":            removeParent,
}

// samplesPerRule bounds how many findings of a rule are mended.
const samplesPerRule = 3

// TestRemedies carries out the remediation of a sample of findings and demands that the finding is gone.
func TestRemedies(t *testing.T) {
	l := lint.New(lint.Options{})
	mended := map[string]int{}
	for _, part := range []string{"raw", "adapted"} {
		for _, file := range specs(t, part) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range lintFile(t, l, filepath.Base(file), data).Findings {
				if mended[f.Rule] < samplesPerRule {
					mended[f.Rule]++
					mend(t, l, data, f)
				}
			}
		}
	}
	total := 0
	for _, n := range mended {
		total += n
	}
	t.Logf("findings mended: %d, of %d rules", total, len(mended))
	if total < 50 {
		t.Errorf("only %d findings to mend", total)
	}
}

func mend(t *testing.T, l *lint.Linter, data []byte, f finding.Finding) {
	t.Helper()
	carryOut, ok := remedies[f.Rule]
	if !ok {
		t.Errorf("no remedy is known for %s: %s", f.Rule, f.Remediation)
		return
	}
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	carryOut(object, f)
	edited, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range lintFile(t, l, f.File, edited).Findings {
		if left.Rule == f.Rule && left.Path == f.Path && left.Message == f.Message {
			t.Errorf("%s %s [%s]: %s\nremains after: %s", f.File, f.Path, f.Rule, f.Message, f.Remediation)
		}
	}
}

// parent returns the value that holds the end of a path, and the key or index there.
func parent(object map[string]any, path string) (at any, key string, index int) {
	at = object
	for {
		var next any
		var rest string
		switch v := at.(type) {
		case map[string]any:
			var ok bool
			if key, rest, ok = longestKey(v, path); !ok {
				return at, strings.Trim(path, ".[]"), 0
			}
			next = v[key]
		case []any:
			index, rest, _ = itemIndex(path, len(v))
			next = v[index]
		default:
			return nil, "", 0
		}
		if rest == "" {
			return at, key, index
		}
		at, path = next, rest
	}
}

func put(object map[string]any, path string, value any) {
	switch at, key, i := parent(object, path); v := at.(type) {
	case map[string]any:
		v[key] = value
	case []any:
		v[i] = value
	}
}

func get(object map[string]any, path string) any {
	switch at, key, i := parent(object, path); v := at.(type) {
	case map[string]any:
		return v[key]
	case []any:
		return v[i]
	}
	return nil
}

// above drops the last step of a path.
func above(path string) string {
	return path[:strings.LastIndexAny(path, ".[")]
}

func cut(object map[string]any, path string) {
	switch at, key, i := parent(object, path); v := at.(type) {
	case map[string]any:
		delete(v, key)
	case []any:
		put(object, above(path), append(append([]any{}, v[:i]...), v[i+1:]...))
	}
}

func remove(object map[string]any, f finding.Finding)       { cut(object, f.Path) }
func removeParent(object map[string]any, f finding.Finding) { cut(object, above(f.Path)) }

var listItem = regexp.MustCompile(`^.*\[\d+\]`)

// removeItem removes the innermost list item that the path leads into.
func removeItem(object map[string]any, f finding.Finding) { cut(object, listItem.FindString(f.Path)) }

func setTo(value any) edit {
	return func(object map[string]any, f finding.Finding) { put(object, f.Path, value) }
}

func setBelow(key string, value any) edit {
	return func(object map[string]any, f finding.Finding) {
		path := f.Path
		if strings.HasSuffix(path, "."+key) {
			path = above(path)
		}
		put(object, path+"."+key, value)
	}
}

func setParent(key string, value any) edit {
	return func(object map[string]any, f finding.Finding) {
		cut(object, f.Path)
		put(object, above(f.Path)+"."+key, value)
	}
}

func rename(container string) edit {
	return func(object map[string]any, _ finding.Finding) { put(object, container+".name", "kandev-agent") }
}

// secure sets a field of the finding's container's security context.
func secure(key string, value any) edit {
	return func(object map[string]any, f finding.Finding) {
		container := listItem.FindString(f.Path)
		sc, _ := get(object, container+".securityContext").(map[string]any)
		if sc == nil {
			sc = map[string]any{}
		}
		sc[key] = value
		put(object, container+".securityContext", sc)
	}
}

func seccompDefault(object map[string]any, _ finding.Finding) {
	sc, _ := get(object, "template.spec.securityContext").(map[string]any)
	if sc == nil {
		sc = map[string]any{}
	}
	sc["seccompProfile"] = map[string]any{"type": "RuntimeDefault"}
	put(object, "template.spec.securityContext", sc)
}

func fsGroup(object map[string]any, _ finding.Finding) {
	sc, _ := get(object, "template.spec.securityContext").(map[string]any)
	if sc == nil {
		sc = map[string]any{}
	}
	sc["fsGroup"] = 1000
	put(object, "template.spec.securityContext", sc)
}

// confine sets all that an agent's security context may lack.
func confine(object map[string]any, f finding.Finding) {
	for key, value := range map[string]any{
		"runAsNonRoot": true, "allowPrivilegeEscalation": false,
		"capabilities":   map[string]any{"drop": []any{"ALL"}},
		"seccompProfile": map[string]any{"type": "RuntimeDefault"},
	} {
		secure(key, value)(object, f)
	}
}

// pin adds a digest to an image.
func pin(object map[string]any, f finding.Finding) {
	put(object, f.Path, fmt.Sprint(get(object, f.Path), "@sha256:", strings.Repeat("0", 64)))
}

// bound gives a container its limits, and a volume in memory its size.
func bound(object map[string]any, f finding.Finding) {
	if strings.HasSuffix(f.Path, ".emptyDir") {
		put(object, f.Path+".sizeLimit", "1Gi")
		return
	}
	put(object, f.Path, map[string]any{"limits": map[string]any{"memory": "1Gi", "ephemeral-storage": "1Gi"}})
}

// correctType writes a value of the type that the remediation asks for.
func correctType(object map[string]any, f finding.Finding) {
	switch {
	case strings.Contains(f.Remediation, "quote it"):
		put(object, f.Path, "text")
	case strings.Contains(f.Remediation, "true or false"):
		put(object, f.Path, true)
	case strings.Contains(f.Remediation, "quantity"):
		put(object, f.Path, "1Gi")
	case strings.Contains(f.Remediation, "number"):
		put(object, f.Path, 8080)
	case strings.Contains(f.Remediation, "- "), strings.Contains(f.Remediation, "list"):
		put(object, f.Path, []any{})
	default:
		put(object, f.Path, map[string]any{})
	}
}

// corrected are values that the API server takes for a field.
var corrected = map[string]any{
	"image": "registry.example/tools:1", "containerPort": 8080, "hostPort": 0, "port": 8080, "protocol": "TCP",
	"fieldPath": "metadata.name", "serviceAccountName": "builder", "pdName": "disk", "minDomains": 1,
	"procMount": "Default", "whenUnsatisfiable": "DoNotSchedule", "topologyKey": "zone", "maxSkew": 1,
	"mountPath": "/data", "path": "/data", "server": "nfs.example", "driver": "csi.example", "key": "zone",
	"claimName": "claim", "secretName": "secret",
}

// correct does what an API server's error asks for: sets what is required, replaces what is refused,
// removes what is forbidden, repeated or points nowhere.
func correct(object map[string]any, f finding.Finding) {
	// The API server calls this one source by another name than its field's.
	f.Path = strings.Replace(f.Path, ".persistentDisk.", ".gcePersistentDisk.", 1)
	last := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
	switch {
	case strings.HasPrefix(f.Remediation, "define it"):
		removeItem(object, f)
	case strings.HasPrefix(f.Remediation, "remove"), strings.HasSuffix(last, "]"), strings.HasPrefix(f.Remediation, "give"):
		cut(object, f.Path)
	case last == "name":
		put(object, f.Path, "name-"+strconv.Itoa(f.Line))
	case corrected[last] != nil:
		put(object, f.Path, corrected[last])
	default:
		cut(object, f.Path)
	}
}
