package session

import (
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// companions are added to the template: one that reads the workspace, one that writes it, one that has no grant, each as privileged
// as a container can be.
const companions = `
    - name: reader
      image: IMAGE
      imagePullPolicy: IfNotPresent
      command: [sleep, "1000"]
      securityContext: {privileged: true, runAsUser: 0}
      volumeMounts:
      - {name: kandev-workspace, mountPath: /workspace, readOnly: true}
    - name: writer
      image: IMAGE
      imagePullPolicy: IfNotPresent
      command: [sleep, "1000"]
      volumeMounts:
      - {name: kandev-workspace, mountPath: /workspace}
    - name: stranger
      image: IMAGE
      imagePullPolicy: IfNotPresent
      command: [sleep, "1000"]
`

// TestGrants looks into the containers of a session: what a grant says, the kernel does, and what belongs to the agent alone is
// nowhere else.
func TestGrants(t *testing.T) {
	for _, mode := range []compose.WorkspaceMode{compose.ManagedPVC, compose.EmptyDir} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			id := "grants-" + strings.ReplaceAll(string(mode), "_", "-")
			r, err := request(id, w.agent, mode)
			if err != nil {
				t.Fatal(err)
			}
			parsed, violations := compose.ParseTemplate([]byte(strings.ReplaceAll(template+strings.TrimPrefix(companions, "\n"), "IMAGE", cluster.BusyboxImage)))
			if len(violations) > 0 {
				t.Fatal(violations)
			}
			r.Template = parsed.Spec
			e := w.executor("owner-" + id)
			s, err := e.Launch(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the cleanup says what matters
			for _, c := range []struct{ container, script, want string }{
				{"kandev-agent", "cat /workspace/work", "original"},
				{"reader", "cat /workspace/work", "original"},
				{"reader", "echo x 2>&1 >/workspace/new", "sh: can't create /workspace/new: Read-only file system"},
				{"reader", "rm -f /workspace/work 2>&1", "rm: can't remove '/workspace/work': Read-only file system"},
				{"writer", "echo written >/workspace/new && cat /workspace/new", "written"},
				{"kandev-agent", "cat /workspace/new", "written"},
				{"stranger", "ls /workspace 2>&1", "ls: /workspace: No such file or directory"},
				{"kandev-agent", "grep -c -e ' /opt/kandev ' -e ' /run/kandev ' -e ' /workspace ' /proc/mounts", "3"},
				{"reader", "grep -e /opt/kandev -e /run/kandev /proc/mounts || ls /opt/kandev /run/kandev 2>&1", "ls: /opt/kandev: No such file or directory\nls: /run/kandev: No such file or directory"},
				{"writer", "grep -e /opt/kandev -e /run/kandev /proc/mounts || ls /opt/kandev /run/kandev 2>&1", "ls: /opt/kandev: No such file or directory\nls: /run/kandev: No such file or directory"},
				{"stranger", "grep -e /opt/kandev -e /run/kandev -e /workspace /proc/mounts || ls /run/kandev 2>&1", "ls: /run/kandev: No such file or directory"},
				{"stranger", "ls /var/run/secrets/kubernetes.io 2>&1", "ls: /var/run/secrets/kubernetes.io: No such file or directory"},
			} {
				command, err := w.cluster.ContainerCommand(t.Context(), namespace, s.Row.Pod.Name, c.container, "sh", "-c", c.script)
				if err != nil {
					t.Fatal(err)
				}
				out, _ := command.CombinedOutput()
				if got := strings.TrimSpace(string(out)); got != c.want {
					t.Errorf("%s: %s\ngot  %q\nwant %q", c.container, c.script, got, c.want)
				}
			}
			if err := e.Cleanup(t.Context(), id); err != nil {
				t.Error(err)
			}
			w.nothing(e, id)
		})
	}
}
