package compose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// apiTopics names the rule for what the API server would refuse at or below a field.
var apiTopics = map[string]string{
	"labels": RuleAPIMetadata, "annotations": RuleAPIMetadata, "metadata": RuleAPIMetadata,
	"env": RuleAPIEnv, "envFrom": RuleAPIEnv,
	"ports":        RuleAPIPort,
	"volumeMounts": RuleAPIMount, "volumeDevices": RuleAPIMount,
	"volumes":       RuleAPIVolume,
	"livenessProbe": RuleAPIProbe, "readinessProbe": RuleAPIProbe, "startupProbe": RuleAPIProbe,
	"lifecycle": RuleAPIProbe,
	"resources": RuleAPIResources, "resizePolicy": RuleAPIResources, "overhead": RuleAPIResources,
	"resourceClaims":  RuleAPIResources,
	"securityContext": RuleAPISecurity, "hostUsers": RuleAPISecurity, "hostPID": RuleAPISecurity,
	"hostIPC": RuleAPISecurity, "hostNetwork": RuleAPISecurity, "shareProcessNamespace": RuleAPISecurity,
	"affinity": RuleAPIScheduling, "tolerations": RuleAPIScheduling, "nodeSelector": RuleAPIScheduling,
	"nodeName": RuleAPIScheduling, "topologySpreadConstraints": RuleAPIScheduling,
	"schedulingGates": RuleAPIScheduling, "schedulingGroup": RuleAPIScheduling, "priority": RuleAPIScheduling,
	"priorityClassName": RuleAPIScheduling, "preemptionPolicy": RuleAPIScheduling,
	"schedulerName": RuleAPIScheduling, "readinessGates": RuleAPIScheduling, "runtimeClassName": RuleAPIScheduling,
	"dnsPolicy": RuleAPIDNS, "dnsConfig": RuleAPIDNS, "hostAliases": RuleAPIDNS, "hostname": RuleAPIDNS,
	"subdomain": RuleAPIDNS, "setHostnameAsFQDN": RuleAPIDNS, "hostnameOverride": RuleAPIDNS,
	"image": RuleAPIImage, "imagePullPolicy": RuleAPIImage, "imagePullSecrets": RuleAPIImage,
}

// topicOf finds the outermost field of a path that has a rule of its own.
func topicOf(path string) string {
	for name := range strings.SplitSeq(path, ".") {
		name, _, _ = strings.Cut(name, "[")
		if rule, ok := apiTopics[name]; ok {
			return rule
		}
	}
	if strings.Contains(path, "ontainers[") {
		return RuleAPIContainer
	}
	return RuleAPIPod
}

// apiViolation says in a template author's terms what the API server would refuse.
func apiViolation(err *field.Error, t *corev1.PodTemplateSpec) Violation {
	container := containerOf(err.Field, &t.Spec)
	at := pathOf(err.Field)
	if key := faultyKey(err, t); key != "" {
		at = at.Key(key)
	}
	return violation(topicOf(err.Field), at, container, apiDetail(err, container), apiRemedy(err))
}

// faultyKey names the label, annotation or selector that an error is about: the API server points at the
// whole map and gives the key or value that it refuses. It is empty where the error is of another kind.
func faultyKey(err *field.Error, t *corev1.PodTemplateSpec) string {
	var m map[string]string
	switch err.Field {
	case "template.metadata.labels":
		m = t.Labels
	case "template.metadata.annotations":
		m = t.Annotations
	case "template.spec.nodeSelector":
		m = t.Spec.NodeSelector
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == err.BadValue || m[key] == err.BadValue {
			return key
		}
	}
	return ""
}

// pathOf wraps a path that is already written out.
func pathOf(written string) *field.Path { return field.NewPath(written) }

// containerOf returns the name of the container that a path leads into, "" if none.
func containerOf(path string, s *corev1.PodSpec) string {
	containers := s.Containers
	rest, ok := strings.CutPrefix(path, "template.spec.containers")
	if !ok {
		containers = s.InitContainers
		rest, ok = strings.CutPrefix(path, "template.spec.initContainers")
	}
	if !ok {
		return ""
	}
	if i, _, ok := leadingIndex(rest); ok && i < len(containers) {
		return containers[i].Name
	}
	return ""
}

// apiDetail writes the error as a sentence.
func apiDetail(err *field.Error, container string) string {
	subject := strings.TrimPrefix(err.Field, "template.")
	if container != "" {
		_, inside, _ := strings.Cut(err.Field, "]")
		if subject = fmt.Sprintf("container %q", container); inside != "" {
			subject = strings.TrimPrefix(inside, ".") + " of " + subject
		}
	}
	detail := ""
	if err.Detail != "" {
		detail = ": " + err.Detail
	}
	switch err.Type {
	case field.ErrorTypeRequired:
		return fmt.Sprintf("%s is required%s", subject, detail)
	case field.ErrorTypeDuplicate:
		return fmt.Sprintf("%s repeats %s%s", subject, valueOf(err), detail)
	case field.ErrorTypeForbidden:
		return fmt.Sprintf("%s may not be set%s", subject, detail)
	case field.ErrorTypeNotFound:
		return fmt.Sprintf("%s names %s, which does not exist", subject, valueOf(err))
	case field.ErrorTypeTooLong, field.ErrorTypeTooMany:
		return fmt.Sprintf("%s is too long%s", subject, detail)
	case field.ErrorTypeNotSupported:
		return fmt.Sprintf("%s is %s, not one of the %s", subject, valueOf(err), err.Detail)
	default:
		return fmt.Sprintf("%s holds %s%s", subject, valueOf(err), detail)
	}
}

func valueOf(err *field.Error) string {
	return strconv.Quote(shorten(fmt.Sprint(err.BadValue)))
}

func apiRemedy(err *field.Error) string {
	name := lastName(err.Field)
	hint := ""
	if err.Detail != "" {
		hint = ": " + firstSentence(err.Detail)
	}
	switch err.Type {
	case field.ErrorTypeRequired:
		return "set " + name + hint
	case field.ErrorTypeDuplicate:
		return fmt.Sprintf("give %s a value of its own, or remove the entry that repeats it", name)
	case field.ErrorTypeNotSupported:
		return fmt.Sprintf("write %s with one of the %s", name, err.Detail)
	case field.ErrorTypeForbidden:
		return "remove " + name
	case field.ErrorTypeNotFound:
		return fmt.Sprintf("define it, or correct %s", name)
	case field.ErrorTypeTooLong, field.ErrorTypeTooMany:
		return "shorten " + name
	default:
		return "correct " + name + hint
	}
}

// firstSentence drops the examples and expressions that follow in the API server's texts.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(s, "(e.g. ")
	return strings.TrimRight(s, ", ")
}

// profileViolation is a fault of a profile or an identity.
func profileViolation(err *field.Error) Violation {
	return violation(RuleProfile, pathOf(err.Field), "", apiDetail(err, ""), apiRemedy(err))
}

func profileViolations(errs field.ErrorList) []Violation {
	out := make([]Violation, 0, len(errs))
	for _, err := range errs {
		out = append(out, profileViolation(err))
	}
	return out
}
