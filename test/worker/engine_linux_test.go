package worker

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEngineStart runs the engine's start script on directories that stand in for those of the kernel, as far as the daemon.
func TestEngineStart(t *testing.T) {
	containers := template(t).Spec.Spec.Containers
	script := containers[len(containers)-1].Args[0]
	const started = "--host=unix:///run/docker/docker.sock --group=1000 --exec-root=/run/docker-engine --cgroup-parent=/docker --mtu=%[1]s --default-network-opt=bridge=com.docker.network.driver.mtu=%[1]s"
	for name, c := range map[string]struct {
		files map[string]string // what the kernel shows
		want  map[string]string // what is written to it
		mtu   string
	}{
		"version 1": {
			files: map[string]string{"fs/cgroup/memory/memory.limit_in_bytes": "4294967296", "class/net/lo/mtu": "65536", "class/net/eth0/mtu": "1400"},
			want:  map[string]string{"fs/cgroup/memory/docker/memory.limit_in_bytes": "3221225472"},
			mtu:   "1400",
		},
		"version 1 without a limit": {
			files: map[string]string{"fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712", "class/net/eth0/mtu": "9000"},
			want:  map[string]string{"fs/cgroup/memory/docker/memory.limit_in_bytes": "6917529027641078784"},
			mtu:   "9000",
		},
		"version 2": {
			files: map[string]string{
				"fs/cgroup/cgroup.controllers": "cpu memory pids", "fs/cgroup/cgroup.subtree_control": "", "fs/cgroup/memory.max": "1073741824",
				"class/net/lo/mtu": "1280", "class/net/eth0/mtu": "1500", "class/net/eth1/mtu": "1450", "class/net/bonding_masters": "",
			},
			want: map[string]string{
				"fs/cgroup/engine/cgroup.procs": "0", "fs/cgroup/cgroup.subtree_control": "+pids", "fs/cgroup/docker/memory.max": "805306368",
			},
			mtu: "1450",
		},
		"version 2 without a limit": {
			files: map[string]string{"fs/cgroup/cgroup.controllers": "memory", "fs/cgroup/memory.max": "max", "class/net/eth0/mtu": "1500"},
			want:  map[string]string{"fs/cgroup/engine/cgroup.procs": "0", "fs/cgroup/cgroup.subtree_control": "+memory"},
			mtu:   "1500",
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachShell(t, func(t *testing.T, shell []string) {
				sys, bin := t.TempDir(), t.TempDir()
				for name, text := range c.files {
					write(t, filepath.Join(sys, name), text+"\n")
				}
				write(t, filepath.Join(bin, "dockerd"), "#!/bin/sh\necho \"$*\"\n")
				command := exec.Command(shell[0], append(shell[1:], "-euc", strings.ReplaceAll(script, "/sys/", sys+"/"))...)
				command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
				r := start(t, command)
				if want := strings.ReplaceAll(started, "%[1]s", c.mtu) + "\n"; r.out != want || r.status != 0 {
					t.Errorf("%+v, want %q", r, want)
				}
				got := map[string]string{}
				for _, name := range slices.Sorted(maps.Keys(c.want)) {
					got[name] = strings.TrimSpace(read(t, filepath.Join(sys, name)))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		})
	}
}
