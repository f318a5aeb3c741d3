package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// enterNode makes the namespaces of this process, which are new, into those of a node. The programs of a node
// then use the paths that they use on any machine, and see and change nothing of the host's.
func enterNode(c Config) error {
	for _, step := range []func(Config) error{makeMounts, keepSysctls, makeCgroups, makeNetwork} {
		if err := step(c); err != nil {
			return err
		}
	}
	return nil
}

// makeMounts covers the directories that a node writes to with directories of the cluster.
func makeMounts(c Config) error {
	if err := mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	root, err := unix.Open(c.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(root) }()
	for _, dir := range []string{"/var/lib", "/var/log", "/tmp"} {
		source := filepath.Join(c.Dir, "node", dir)
		if err := os.MkdirAll(source, 0o755); err != nil {
			return err
		}
		if err := mount(source, dir, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	if err := os.Chmod("/tmp", 0o777|os.ModeSticky); err != nil {
		return err
	}
	if err := mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return err
	}
	// The root can itself have been covered.
	if _, err := os.Stat(c.Dir); err != nil {
		if err := os.MkdirAll(c.Root, 0o755); err != nil {
			return err
		}
		if err := mount(fmt.Sprintf("/proc/self/fd/%d", root), c.Root, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	if err := mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	// Mount propagation into containers needs it; peers are only in this namespace.
	return mount("none", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

// keepSysctls shows the kubelet the kernel settings that it wants, which have no namespace, so that it does not
// set those of the host.
func keepSysctls(c Config) error {
	for name, value := range map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	} {
		file := filepath.Join(c.Dir, "node", "sysctl", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := mount(file, "/proc/sys/"+name, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// makeCgroups makes the cgroup below which the kubelet puts Pods.
func makeCgroups(c Config) error {
	mounts, err := cgroupMounts()
	if err != nil {
		return err
	}
	for _, m := range mounts {
		dir := filepath.Join(m, Cgroup(c.Dir))
		if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
			return err
		}
		if err := inheritCPUs(m, dir); err != nil {
			return err
		}
	}
	return nil
}

// inheritCPUs fills what a new cpuset of version 1 lacks: without it no process can be put there.
func inheritCPUs(parent, dir string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		if have, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.TrimSpace(string(have)) != "" {
			continue // another controller, or filled by the kernel
		}
		value, err := os.ReadFile(filepath.Join(parent, name))
		if err != nil {
			continue // version 2, where empty means inherited
		}
		if err := os.WriteFile(filepath.Join(dir, name), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// makeNetwork gives the node its address, on a bridge: not every kernel has dummy devices, and a kubelet takes
// no address of the loopback device.
func makeNetwork(c Config) error {
	for _, command := range []string{
		"link set lo up",
		"link add node0 type bridge",
		"address add " + c.Network + " dev node0",
		"link set node0 up",
		"route add default dev node0",
	} {
		out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, out)
		}
	}
	return nil
}

func mount(source, target, fstype string, flags uintptr, data string) error {
	if err := unix.Mount(source, target, fstype, flags, data); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", source, target, err)
	}
	return nil
}
