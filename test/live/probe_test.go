package live

import "testing"

func TestScratch(t *testing.T) {
	c := node(t)
	ns := namespace(t, c, nil)
	file := write(t, "t.yaml", `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000}
    containers:
    - name: kandev-agent
      image: kandev.test/busybox:1
      imagePullPolicy: IfNotPresent
`)
	t.Log(run(t, c.Kubeconfig(), "probe", "-n", ns, file))
	t.Log(run(t, c.Kubeconfig(), "probe", "--workspace-mode", "empty_dir", "-n", ns, file))
}
