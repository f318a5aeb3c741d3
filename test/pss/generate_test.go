package pss

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// object is a JSON object, as a document's reader gives it.
type object = map[string]any

// absent stands for a key that is left out.
var absent = new(struct{})

// generator makes Pods in which every field that a check reads takes every value that matters to one. The same seed
// makes the same Pods.
type generator struct {
	*rand.Rand

	careless float64 // how often a field has another value than the restricted standard asks for
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	// From Pods that the restricted standard allows to those that break everything.
	g.careless = []float64{0, 0.05, 0.2, 0.6}[g.IntN(4)]
	return g
}

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// field sets a key to what the restricted standard allows, or carelessly to one of the others, null or nothing.
func (g *generator) field(o object, key string, restricted any, others ...any) {
	value := restricted
	if g.Float64() < g.careless {
		value = pick(g, append(others, nil, absent, restricted)...)
	}
	g.put(o, key, value)
}

// put sets a key to a value, or to what a function gives; absent leaves it out.
func (g *generator) put(o object, key string, value any) {
	if generate, ok := value.(func() any); ok {
		value = generate()
	}
	if value != any(absent) {
		o[key] = value
	}
}

// pod makes a Pod.
func (g *generator) pod() object {
	metadata := object{"name": "a"}
	g.field(metadata, "annotations", absent, g.annotations)
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": g.spec()}
}

// annotations are those that once chose profiles.
func (g *generator) annotations() any {
	keys := []string{
		"container.apparmor.security.beta.kubernetes.io/a", "container.apparmor.security.beta.kubernetes.io/",
		"container.apparmor.security.beta.kubernetes.io", "seccomp.security.alpha.kubernetes.io/pod",
		"container.seccomp.security.alpha.kubernetes.io/a", "example.com/a",
	}
	annotations := object{}
	for range g.IntN(4) {
		annotations[pick(g, keys...)] = pick[any](g, "runtime/default", "localhost/x", "localhost/", "localhost", "unconfined", "docker/default", "Runtime/Default", "", nil)
	}
	return annotations
}

func (g *generator) spec() object {
	spec := object{"containers": g.containers(1 + g.IntN(3))}
	g.field(spec, "initContainers", func() any { return g.containers(g.IntN(3)) })
	g.field(spec, "ephemeralContainers", func() any { return g.containers(g.IntN(2)) })
	g.field(spec, "volumes", g.volumes)
	g.field(spec, "hostNetwork", absent, true, false)
	g.field(spec, "hostPID", absent, true, false)
	g.field(spec, "hostIPC", absent, true, false)
	g.field(spec, "shareProcessNamespace", absent, true, false)
	g.field(spec, "securityContext", func() any { return g.podContext(spec) }, func() any { return object{} })
	// These two relax some checks, so that a Pod which is restricted otherwise has them as often.
	if g.IntN(3) == 0 {
		g.put(spec, "hostUsers", pick[any](g, false, false, true, nil))
	}
	if g.IntN(4) == 0 {
		g.put(spec, "os", pick[any](g, object{"name": "windows"}, object{"name": "windows"}, object{"name": "linux"}, object{"name": "Windows"}, object{"name": ""}, object{"name": nil}, object{}, nil))
	}
	return spec
}

// podContext asks for what containers may leave to the Pod, or has not and then asks it of each of them.
func (g *generator) podContext(spec object) any {
	context := object{}
	g.shared(context)
	if g.IntN(3) == 0 {
		for _, key := range []string{"runAsNonRoot", "seccompProfile"} {
			if g.IntN(2) == 0 {
				for _, c := range containersOf(spec) {
					if own, ok := c["securityContext"].(object); ok {
						own[key] = context[key]
					}
				}
				delete(context, key)
			}
		}
	}
	g.field(context, "sysctls", absent, g.sysctls, g.sysctls, g.sysctls, []any{})
	g.field(context, "fsGroup", absent, int64(1000))
	return context
}

func containersOf(spec object) []object {
	var all []object
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		items, _ := spec[list].([]any)
		for _, item := range items {
			all = append(all, item.(object))
		}
	}
	return all
}

// shared are the fields that both security contexts have.
func (g *generator) shared(context object) {
	g.field(context, "runAsNonRoot", true, false)
	g.field(context, "runAsUser", absent, int64(0), json.Number("-0"), float64(0), int64(1), int64(1000), int64(-1))
	g.field(context, "runAsGroup", absent, int64(0))
	g.field(context, "seccompProfile", func() any { return g.profile("RuntimeDefault", "Localhost") }, g.anyProfile)
	g.field(context, "appArmorProfile", absent, g.anyProfile)
	g.field(context, "seLinuxOptions", absent, g.seLinuxOptions, object{})
	g.field(context, "windowsOptions", absent, object{}, object{"hostProcess": true}, object{"hostProcess": false}, object{"hostProcess": nil}, object{"runAsUserName": "a"})
}

func (g *generator) profile(types ...any) any {
	profile := object{}
	g.put(profile, "type", pick(g, types...))
	if profile["type"] == "Localhost" && g.IntN(4) > 0 {
		profile["localhostProfile"] = "a.json"
	}
	return profile
}

func (g *generator) anyProfile() any {
	return g.profile("RuntimeDefault", "Localhost", "Unconfined", "Unconfined", "runtime/default", "unconfined", "", nil, absent)
}

func (g *generator) seLinuxOptions() any {
	options := object{}
	g.put(options, "type", pick[any](g, absent, absent, nil, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t", "container_engine_t", "spc_t", "Container_t", "container_t "))
	g.put(options, "user", pick[any](g, absent, absent, absent, nil, "", "system_u", " "))
	g.put(options, "role", pick[any](g, absent, absent, absent, nil, "", "system_r", " "))
	g.put(options, "level", pick[any](g, absent, nil, "", "s0:c1,c2"))
	return options
}

// sysctls takes its names from every version's list and from beside them.
func (g *generator) sysctls() any {
	names := []any{
		"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
		"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time",
		"net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem",
		"net.ipv4.tcp_wmem", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat", "kernel.msgmax",
		"net/ipv4/tcp_syncookies", "net.ipv4.", "", nil, absent,
	}
	var list []any
	for range 1 + g.IntN(3) {
		sysctl := object{"value": "1"}
		g.put(sysctl, "name", pick(g, names...))
		list = append(list, sysctl)
	}
	return list
}

// sources are the JSON names of all types of volume that the API has.
var sources = func() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[corev1.VolumeSource]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

func (g *generator) volumes() any {
	list := []any{}
	for range g.IntN(4) {
		volume := object{}
		g.put(volume, "name", pick[any](g, "a", "b", "c", "", nil, absent))
		g.field(volume, pick(g, "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"), object{})
		for range 2 {
			g.field(volume, pick(g, sources...), absent, object{})
		}
		g.field(volume, "hostPath", absent, object{}, object{"path": "/data"}, object{"path": "/etc"}, object{"path": ""}, object{"path": nil})
		list = append(list, volume)
	}
	return list
}

func (g *generator) containers(n int) any {
	list := []any{}
	for range n {
		container := object{}
		g.put(container, "name", pick[any](g, "a", "b", "kandev-agent", "", absent))
		g.field(container, "securityContext", g.context, object{})
		g.field(container, "ports", absent, []any{}, []any{g.port(), g.port()}, []any{g.port()})
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			g.field(container, probe, absent, g.handler)
		}
		g.field(container, "lifecycle", absent, func() any {
			lifecycle := object{}
			g.put(lifecycle, "postStart", pick[any](g, absent, nil, g.handler))
			g.put(lifecycle, "preStop", pick[any](g, absent, nil, g.handler))
			return lifecycle
		})
		g.field(container, "restartPolicy", absent, "Always")
		list = append(list, container)
	}
	return list
}

func (g *generator) port() object {
	port := object{"containerPort": int64(80)}
	g.put(port, "hostPort", pick[any](g, absent, nil, int64(0), json.Number("-0"), int64(80), int64(65535), int64(-1)))
	return port
}

// handler is what a probe or a hook does.
func (g *generator) handler() any {
	handler := object{}
	for _, action := range []string{"httpGet", "tcpSocket"} {
		if g.IntN(2) == 0 {
			target := object{"port": int64(80)}
			g.put(target, "host", pick[any](g, absent, nil, "", "localhost", "127.0.0.1", " ", "example.com"))
			g.put(handler, action, pick[any](g, target, target, nil))
		}
	}
	g.put(handler, "exec", pick[any](g, absent, absent, object{"command": []any{"true"}}))
	return handler
}

// context is a container's security context.
func (g *generator) context() any {
	context := object{}
	g.shared(context)
	g.field(context, "allowPrivilegeEscalation", false, true)
	g.field(context, "privileged", absent, true, false)
	g.field(context, "procMount", absent, "Default", "Unmasked", "Unmasked", "", "unmasked")
	g.field(context, "capabilities", g.capabilities, object{})
	g.field(context, "readOnlyRootFilesystem", absent, true)
	return context
}

func (g *generator) capabilities() any {
	capabilities := object{}
	g.field(capabilities, "drop", []any{"ALL"}, []any{}, []any{"all"}, []any{"CAP_ALL"}, []any{"NET_RAW", "ALL"}, []any{"CHOWN"}, []any{nil})
	g.field(capabilities, "add", absent, func() any {
		var list []any
		for range g.IntN(3) {
			list = append(list, pick[any](
				g, "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_BIND_SERVICE",
				"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "NET_RAW", "SYS_ADMIN", "ALL", "all", "CAP_CHOWN", "chown",
				"CAP_NET_BIND_SERVICE", "net_bind_service", "", nil,
			))
		}
		return list
	})
	return capabilities
}

// graft changes a Pod at random: somewhere that another Pod has a value, it takes that or loses its own.
func (g *generator) graft(into, from object) {
	keys := slices.Sorted(maps.Keys(from))
	if len(keys) == 0 {
		return
	}
	key := pick(g, keys...)
	switch {
	case g.IntN(10) == 0:
		delete(into, key)
	case g.IntN(4) > 0 && g.descend(into[key], from[key]):
	default:
		into[key] = runtime.DeepCopyJSONValue(from[key])
	}
}

// descend goes on below two values of one kind, if they are.
func (g *generator) descend(into, from any) bool {
	switch from := from.(type) {
	case object:
		if into, ok := into.(object); ok {
			g.graft(into, from)
			return true
		}
	case []any:
		if into, ok := into.([]any); ok && len(into) > 0 && len(from) > 0 {
			return g.descend(pick(g, into...), pick(g, from...))
		}
	}
	return false
}
