package podrules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestDns(t *testing.T) {
	run(t, []row{
		{"resolver", inSpec(`dnsPolicy: None, dnsConfig: {nameservers: [1.2.3.4, "FE80::1"], searches: [., a.b., _c], options: [{name: ndots}]}`), nil},
		{"policy", inSpec("dnsPolicy: Other"), field.ErrorList{
			notSupported("spec.dnsPolicy", `supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`),
		}},
		{"none without a config", inSpec("dnsPolicy: None"), field.ErrorList{
			required("spec.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None"),
		}},
		{"none without a nameserver", inSpec("dnsPolicy: None, dnsConfig: {searches: [a]}"), field.ErrorList{
			required("spec.dnsConfig.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None"),
		}},
		{"nameservers", inSpec(`dnsConfig: {nameservers: [x, 01.2.3.4, "::ffff:1.2.3.4", 1.2.3.4]}`), field.ErrorList{
			invalid("spec.dnsConfig.nameservers", "must not have more than 3 nameservers"),
			invalid("spec.dnsConfig.nameservers[0]", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
			invalid("spec.dnsConfig.nameservers[1]", "must not have leading 0s"),
			invalid("spec.dnsConfig.nameservers[2]", "must not be an IPv4-mapped IPv6 address"),
		}},
		{"searches", inSpec(`dnsConfig: {searches: [A, ""]}`), field.ErrorList{
			invalid("spec.dnsConfig.searches[0]", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.dnsConfig.searches[1]", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')`),
		}},
		{"too many searches", inSpec("dnsConfig: {searches: [" + list(33, "a") + "]}"), field.ErrorList{
			invalid("spec.dnsConfig.searches", "must not have more than 32 search paths"),
		}},
		{"searches too long", inSpec("dnsConfig: {searches: [" + list(17, strings.Repeat("l", 63)+"."+strings.Repeat("l", 63)) + "]}"), field.ErrorList{
			invalid("spec.dnsConfig.searches", "must not have more than 2048 characters (including spaces) in the search list"),
		}},
		{"options", inSpec("dnsConfig: {options: [{value: a}]}"), field.ErrorList{
			required("spec.dnsConfig.options[0]", "must not be empty"),
		}},
		{"names", inSpec("hostname: a, subdomain: b, hostAliases: [{ip: 1.2.3.4, hostnames: [a.b]}], hostnameOverride: a.b"), nil},
		{"bad names", inSpec("hostname: a.b, subdomain: B, hostAliases: [{ip: x, hostnames: [A]}]"), field.ErrorList{
			invalid("spec.hostname", "must not contain dots"),
			invalid("spec.subdomain", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			invalid("spec.hostAliases[0].ip", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
			invalid("spec.hostAliases[0].hostnames[0]", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
		{"override", inSpec("hostnameOverride: " + strings.Repeat("l", 64) + "A, setHostnameAsFQDN: true, hostNetwork: true"), field.ErrorList{
			forbidden("spec.hostnameOverride", "may not be specified when setHostnameAsFQDN is true"),
			forbidden("spec.hostnameOverride", "may not be specified when hostNetwork is true"),
			tooLong("spec.hostnameOverride", "may not be more than 64 bytes"),
			invalid("spec.hostnameOverride", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
	})
}
