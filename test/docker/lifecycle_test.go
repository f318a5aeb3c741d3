package docker

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// held is what a nested process is known by among all of the host's.
const held = "sleep 8517263"

// lifecycle is one session and what the items of its test hand on.
type lifecycle struct {
	executor *executor.Executor
	id       string
	request  executor.Request
	pod      *corev1.Pod
}

func (l *lifecycle) uid() string { return string(l.pod.UID) }

func (w *world) livePod(name string) *corev1.Pod {
	w.t.Helper()
	pod, err := w.kube.CoreV1().Pods(namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// restarts counts how often each container of a Pod was started again.
func (w *world) restarts(pod string) map[string]int32 {
	w.t.Helper()
	out := map[string]int32{}
	for _, c := range w.livePod(pod).Status.ContainerStatuses {
		out[c.Name] = c.RestartCount
	}
	return out
}

// TestLifecycle leads one session of the recipe from its start to its end.
func TestLifecycle(t *testing.T) {
	w := newWorld(t)
	l := &lifecycle{executor: w.executor("lifecycle"), id: "lifecycle"}
	l.request = w.request(l.id,
		bootstrap.EnvVar{Name: "PREPARE_REPOSITORY", Value: w.serveRepository()},
		bootstrap.EnvVar{Name: "PREPARE_TASK_BRANCH", Value: "task-1"})
	s := w.launch(l.executor, l.request)
	l.pod = w.livePod(s.Row.Pod.Name)

	w.item("User", "the agent reaches the engine over the Unix socket as UID 1000", l.user)
	w.item("Sockets", "no TCP socket listens in the Pod but the agent's own control port on loopback", l.sockets)
	w.item("Volumes", "the volumes `kandev-runtime` and `kandev-auth`, and a service account token, are absent in the engine's container", l.volumes)
	w.item("Binds", "an image is made and run; bind mounts of the workspace are seen from both sides, and read-only is read-only", l.binds)
	w.item("Network", fmt.Sprintf("with a Pod MTU of %d, the engine's default network and one that a user defines have no larger one, and large HTTPS transfers arrive", podMTU), l.network)
	w.item("Accounting", "the cgroups of nested processes are below the engine container's, and the Pod is charged with their memory, CPU time and processes", l.accounting)
	w.item("Hog", "a nested container that takes memory without end is stopped within the engine's limit; the engine, the nested containers beside it and the agent go on", l.hog)
	w.item("Stop", "Stop keeps Pod, claim, engine and nested containers; Resume sees an edit that was not committed", l.stop)
	w.item("Replacement", "a lost Pod is replaced from the recorded snapshot, though the template was edited to add a grant; the workspace's bytes are the same, and the engine's cache is gone", l.replace)
	w.item("Cleanup", "terminal cleanup removes Pod, managed claim and every nested process", l.cleanup)
}

func (l *lifecycle) user(w *world) string {
	if got := w.inAgent(l.executor, l.id, `id -u; id -g; echo "$DOCKER_HOST"; git -C /workspace symbolic-ref --short HEAD; cat /workspace/README`); got != "1000\n1000\nunix:///run/docker/docker.sock\ntask-1\noriginal" {
		w.t.Errorf("%q", got)
	}
	engineVersion = w.inAgent(l.executor, l.id, `docker info --format 'Docker {{.ServerVersion}}, {{.Driver}}, cgroup driver {{.CgroupDriver}}, {{.OperatingSystem}}'
docker version --format '{{range .Server.Components}}{{.Name}} {{.Version}}, {{end}}'`)
	engineVersion = strings.TrimSuffix(strings.ReplaceAll(engineVersion, "\n", "; "), ",")
	return "UID and GID 1000, over /run/docker/docker.sock"
}

// listening is the state of a socket in /proc/net/tcp that takes connections.
const listening = "0A"

func (l *lifecycle) sockets(w *world) string {
	var found []string
	for line := range strings.Lines(w.in(l.pod.Name, engine, "cat /proc/net/tcp /proc/net/tcp6")) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[3] == listening {
			found = append(found, fields[1])
		}
	}
	control := fmt.Sprintf("0100007F:%04X", compose.ControlPort)
	if !slices.Equal(found, []string{control}) {
		w.t.Errorf("%q listen, want %q alone", found, control)
	}
	return fmt.Sprintf("one listening socket, 127.0.0.1:%d", compose.ControlPort)
}

func (l *lifecycle) volumes(w *world) string {
	const script = `while read -r _ at _; do echo "$at"; done </proc/1/mounts`
	mounts := strings.Fields(w.in(l.pod.Name, engine, script))
	if !slices.Contains(mounts, compose.WorkspacePath) || !slices.Contains(mounts, "/run/docker") {
		w.t.Errorf("these are not the engine's mounts: %q", mounts)
	}
	for _, at := range mounts {
		if strings.HasPrefix(at, compose.RuntimePath) || strings.HasPrefix(at, compose.AuthPath) || strings.HasPrefix(at, "/var/run/secrets") || strings.HasPrefix(at, "/run/secrets") {
			w.t.Errorf("the engine has %s", at)
		}
	}
	if got := w.in(l.pod.Name, engine, "ls -d /opt/kandev /run/kandev 2>/dev/null || :"); got != "" {
		w.t.Errorf("the engine has %s", got)
	}
	return fmt.Sprintf("%d mounts, none of them", len(mounts))
}

func (l *lifecycle) binds(w *world) string {
	w.giveNested(l.executor, l.id)
	got := w.inAgent(l.executor, l.id, `mkdir -p /workspace/shared; echo agent >/workspace/shared/in
docker run --rm -v /workspace/shared:/data nested:1 sh -c 'cat /data/in; echo nested >/data/out'
cat /workspace/shared/out
docker run --rm -v /workspace/shared:/data:ro nested:1 sh -c 'echo no >/data/out' 2>&1 || :
cat /workspace/shared/out; rm -r /workspace/shared 2>/dev/null || docker run --rm -v /workspace:/data nested:1 rm -r /data/shared`)
	if want := "agent\nnested\nsh: can't create /data/out: Read-only file system\nnested"; got != want {
		w.t.Errorf("%q, want %q", got, want)
	}
	return "both read what the other has written; a read-only bind refused to write"
}

func (l *lifecycle) network(w *world) string {
	file := filepath.Join(w.t.TempDir(), "transfer")
	if err := build(file, ".", "./transfer"); err != nil {
		w.t.Fatal(err)
	}
	program, err := os.Open(file)
	if err != nil {
		w.t.Fatal(err)
	}
	defer program.Close() //nolint:errcheck // opened for reading
	w.serve(w.install(file), "serve", nodeAddress+":8443")
	w.feed(l.executor, l.id, "cat >/workspace/transfer; chmod +x /workspace/transfer; echo", program)
	defer w.inAgent(l.executor, l.id, "rm /workspace/transfer")
	const size = 64 << 20
	w.inAgent(l.executor, l.id, "docker network create own >/dev/null")
	defer w.inAgent(l.executor, l.id, "docker network rm own >/dev/null")
	pod := w.in(l.pod.Name, engine, "cat /sys/class/net/eth0/mtu")
	if pod != strconv.Itoa(podMTU) {
		w.t.Errorf("the Pod's interface has an MTU of %s", pod)
	}
	for _, network := range []string{"bridge", "own"} {
		script := fmt.Sprintf(`docker run --rm --network %s -v /workspace/transfer:/bin/transfer:ro nested:1 sh -c 'cat /sys/class/net/eth0/mtu; transfer get https://%s:8443/%d'`, network, nodeAddress, size)
		mtu, sum, _ := strings.Cut(w.inAgent(l.executor, l.id, script), "\n")
		if n, err := strconv.Atoi(mtu); err != nil || n > podMTU {
			w.t.Errorf("network %s: an MTU of %s", network, mtu)
		}
		if sum != streamSum(size) {
			w.t.Errorf("network %s: %q arrived", network, sum)
		}
	}
	return fmt.Sprintf("%d MiB by HTTPS over each of the two, with an MTU of %s", size>>20, pod)
}

// below demands that each cgroup of a process is one of the engine container's, or below it.
func (w *world) below(nested, engine process) {
	w.t.Helper()
	for _, controllers := range slices.Sorted(maps.Keys(nested.cgroups)) {
		// With version 2, the engine moves into a group of its own below the container's.
		outer := strings.TrimSuffix(engine.cgroups[controllers], "/engine")
		if at := nested.cgroups[controllers]; at != outer && !strings.HasPrefix(at, outer+"/") {
			w.t.Errorf("%s escapes the Pod: its cgroup for %q is %s, and the engine's %s", nested.command, controllers, at, outer)
		}
	}
}

// ofPod cuts the path of a cgroup to that of the Pod.
func ofPod(uid string) func(string) string {
	return func(path string) string {
		before, _, _ := strings.Cut(path, "pod"+uid)
		return before + "pod" + uid
	}
}

func (l *lifecycle) accounting(w *world) string {
	const memory, processes = 128, 50
	daemon := w.process(l.uid(), "dockerd ")
	before := w.charged(daemon, ofPod(l.uid()))
	w.inAgent(l.executor, l.id, "docker run -d --name held --stop-timeout 1 nested:1 "+held+" >/dev/null")
	nested := w.process(l.uid(), held)
	w.below(nested, daemon)
	w.inAgent(l.executor, l.id, fmt.Sprintf(`docker run -d --name full --shm-size 256m --stop-timeout 1 nested:1 sh -c 'dd if=/dev/zero of=/dev/shm/x bs=1M count=%d; for i in $(seq %d); do sleep 1000 & done; touch /tmp/ready; wait' >/dev/null
timeout 60 sh -c 'until docker exec full cat /tmp/ready 2>/dev/null; do sleep 1; done'`, memory, processes))
	after := w.charged(daemon, ofPod(l.uid()))
	if grown := after.memory - before.memory; grown < memory<<20 {
		w.t.Errorf("the Pod was charged with %d bytes more after %d MiB were written", grown, memory)
	}
	if grown := after.pids - before.pids; grown < processes {
		w.t.Errorf("the Pod was charged with %d processes more after %d were started", grown, processes)
	}
	for _, p := range w.processes(l.uid()) {
		if strings.HasPrefix(p.command, "sleep 1000") {
			w.below(p, daemon)
		}
	}
	w.inAgent(l.executor, l.id, "docker rm -f full >/dev/null")
	spent, err := time.ParseDuration(strings.Fields(w.inAgent(l.executor, l.id,
		`docker run --rm nested:1 sh -c 'i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done; times'`))[0])
	if err != nil || spent == 0 {
		w.t.Fatal(spent, err)
	}
	if grown := w.charged(daemon, ofPod(l.uid())).cpu - after.cpu; grown < spent {
		w.t.Errorf("the Pod was charged with %v of CPU time after a nested process took %v", grown, spent)
	}
	return fmt.Sprintf("cgroups of version %s; charged: %d MiB written, %d processes, %v of CPU time", cgroupVersion(), memory, processes, spent)
}

func (l *lifecycle) hog(w *world) string {
	daemon := w.process(l.uid(), "dockerd ")
	got := w.inAgent(l.executor, l.id, `docker run --name hog nested:1 tail /dev/zero >/dev/null 2>&1 || echo $?
docker inspect --format '{{.State.OOMKilled}}' hog; docker rm hog >/dev/null; docker inspect --format '{{.State.Status}}' held`)
	if got != "137\ntrue\nrunning" {
		w.t.Errorf("%q", got)
	}
	if now := w.process(l.uid(), "dockerd "); now.pid != daemon.pid {
		w.t.Error("the engine did not survive")
	}
	ofContainer := func(path string) string { return strings.TrimSuffix(path, "/engine") }
	peak := w.charged(daemon, ofContainer).peak
	if peak > engineMemory {
		w.t.Errorf("the engine's container took %d bytes, more than its limit", peak)
	}
	for name, n := range w.restarts(l.pod.Name) {
		if n > 0 {
			w.t.Errorf("%s was started again", name)
		}
	}
	return fmt.Sprintf("killed (137, OOMKilled) at %d MiB of the container's %d MiB; no container was started again", peak>>20, engineMemory>>20)
}

func (l *lifecycle) stop(w *world) string {
	w.inAgent(l.executor, l.id, "echo edited >>/workspace/README")
	nested := w.process(l.uid(), held)
	if err := l.executor.Stop(w.t.Context(), l.id); err != nil {
		w.t.Fatal(err)
	}
	if now := w.process(l.uid(), held); now.pid != nested.pid {
		w.t.Error("the nested process is another one")
	}
	w.resume(l)
	if now := w.livePod(l.pod.Name); now.UID != l.pod.UID {
		w.t.Error("the Pod is another one")
	}
	got := w.inAgent(l.executor, l.id, "cat /workspace/README; git -C /workspace status --porcelain; docker inspect --format '{{.State.Status}}' held")
	if got != "original\nedited\n M README\nrunning" {
		w.t.Errorf("%q", got)
	}
	return "the same Pod, engine and nested process; the edit is there"
}

func (w *world) resume(l *lifecycle) {
	w.t.Helper()
	s, err := l.executor.Resume(w.t.Context(), l.id, l.request.Material)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		w.t.Error(err)
	}
	l.pod = w.livePod(s.Row.Pod.Name)
}

// workspaceSums is the digest of each file of the session's workspace, as the node has it. The index is a cache of git's.
func (l *lifecycle) workspaceSums(w *world) string {
	return w.on("cd " + w.bound(l.pod.Name+"-workspace") + " && find . -type f ! -path ./.git/index -exec sha256sum {} + | sort")
}

// bound waits for a claim's volume, and returns its directory on the node.
func (w *world) bound(claim string) (dir string) {
	w.t.Helper()
	w.await("the volume of "+claim, func(ctx context.Context) (bool, error) {
		c, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, claim, metav1.GetOptions{})
		if err != nil || c.Status.Phase != corev1.ClaimBound {
			return false, err
		}
		v, err := w.kube.CoreV1().PersistentVolumes().Get(ctx, c.Spec.VolumeName, metav1.GetOptions{})
		if err == nil {
			dir = v.Spec.HostPath.Path
		}
		return err == nil, err
	})
	return dir
}

func (w *world) await(what string, done func(context.Context) (bool, error)) {
	w.t.Helper()
	if err := wait.PollUntilContextTimeout(w.t.Context(), 100*time.Millisecond, time.Minute, true, done); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// grants lists who has the workspace.
func grants(pod *corev1.Pod) []string {
	var out []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, m := range c.VolumeMounts {
			if m.Name == compose.WorkspaceVolume {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

func (l *lifecycle) replace(w *world) string {
	lost, before := l.pod, l.workspaceSums(w)
	engineID := w.inAgent(l.executor, l.id, "docker info --format '{{.ID}}'")
	// What the profile has by now: another container with the workspace.
	l.request.Template.Spec.Containers = append(l.request.Template.Spec.Containers, corev1.Container{
		Name: "later", Image: w.images.agent, VolumeMounts: []corev1.VolumeMount{{Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath}},
	})
	w.remove(lost)
	w.resume(l)
	if l.pod.UID == lost.UID {
		w.t.Fatal("the Pod was not replaced")
	}
	if diff := cmp.Diff(grants(lost), grants(l.pod)); diff != "" {
		w.t.Errorf("grants: -before +after\n%s", diff)
	}
	if len(l.pod.Spec.Containers) != len(lost.Spec.Containers) {
		w.t.Errorf("%d containers", len(l.pod.Spec.Containers))
	}
	if diff := cmp.Diff(before, l.workspaceSums(w)); diff != "" {
		w.t.Errorf("workspace: -before +after\n%s", diff)
	}
	if got := w.inAgent(l.executor, l.id, "docker images -q; docker ps -aq"); got != "" {
		w.t.Errorf("the engine still has %q", got)
	}
	if w.inAgent(l.executor, l.id, "docker info --format '{{.ID}}'") == engineID {
		w.t.Error("the engine is the same")
	}
	return fmt.Sprintf("%d files byte for byte, the grants of the snapshot, no image and no container left", strings.Count(before, "\n")+1)
}

// remove deletes a Pod as somebody else would, and waits until it is gone.
func (w *world) remove(pod *corev1.Pod) {
	w.t.Helper()
	if err := w.kube.CoreV1().Pods(namespace).Delete(w.t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}); err != nil {
		w.t.Fatal(err)
	}
	w.await("the end of Pod "+pod.Name, func(ctx context.Context) (bool, error) {
		_, err := w.kube.CoreV1().Pods(namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func (l *lifecycle) cleanup(w *world) string {
	w.giveNested(l.executor, l.id)
	w.inAgent(l.executor, l.id, "docker run -d --stop-timeout 1 nested:1 "+held+" >/dev/null")
	w.process(l.uid(), held)
	before := w.processes(l.uid())
	w.end(l.executor, l.id)
	for _, p := range w.processes(l.uid()) {
		w.t.Errorf("process %d is left: %s", p.pid, p.command)
	}
	return fmt.Sprintf("of %d processes of the Pod on the host, none is left", len(before))
}

// nothing demands that nothing of a session is left on the cluster.
func (w *world) nothing(id string) {
	w.t.Helper()
	o := metav1.ListOptions{LabelSelector: compose.LabelInstanceID + "=" + id}
	pods, err := w.kube.CoreV1().Pods(namespace).List(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	claims, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).List(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(pods.Items)+len(claims.Items) > 0 {
		w.t.Errorf("%s: %d Pods and %d claims are left", id, len(pods.Items), len(claims.Items))
	}
}
