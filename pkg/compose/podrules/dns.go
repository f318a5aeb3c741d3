package podrules

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of the resolver in the C library, and of a host name on Linux.
const (
	maxNameservers  = 3
	maxSearchPaths  = 32
	maxSearchLength = 2048
	maxHostName     = 64
)

var dnsPolicies = []corev1.DNSPolicy{
	corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone,
}

func (c *checker) dns(spec *field.Path) {
	if c.spec.DNSPolicy != "" {
		oneOf(c, spec, "dnsPolicy", c.spec.DNSPolicy, dnsPolicies)
	}
	config, p := c.spec.DNSConfig, spec.Child("dnsConfig")
	if c.spec.DNSPolicy == corev1.DNSNone {
		switch {
		case config == nil:
			c.required(p, "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		case len(config.Nameservers) == 0:
			c.required(p.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if config != nil {
		c.dnsConfig(p, config)
	}
}

func (c *checker) dnsConfig(p *field.Path, config *corev1.PodDNSConfig) {
	if len(config.Nameservers) > maxNameservers {
		c.invalid(p.Child("nameservers"), config.Nameservers, fmt.Sprintf("must not have more than %d nameservers", maxNameservers))
	}
	for i, ip := range config.Nameservers {
		c.ip(p.Child("nameservers").Index(i), ip)
	}
	c.searches(p.Child("searches"), config.Searches)
	for i := range config.Options {
		if config.Options[i].Name == "" {
			c.required(p.Child("options").Index(i), "must not be empty")
		}
	}
}

func (c *checker) searches(p *field.Path, searches []string) {
	if len(searches) > maxSearchPaths {
		c.invalid(p, searches, fmt.Sprintf("must not have more than %d search paths", maxSearchPaths))
	}
	if len(strings.Join(searches, " ")) > maxSearchLength {
		c.invalid(p, searches, fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchLength))
	}
	for i, search := range searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			c.invalidEach(p.Index(i), search, validation.IsDNS1123SubdomainWithUnderscore(search))
		}
	}
}

// ip reports what is no IP address, or from 1.36 on one that programs read differently: with leading zeros, or IPv4
// written as IPv6.
func (c *checker) ip(p *field.Path, value string) {
	c.add(validation.IsValidIPForLegacyField(p, value, c.since(strictIPs), nil))
}

// hostName checks the names of the Pod itself, and those it knows others by.
func (c *checker) hostName(spec *field.Path) {
	c.dnsLabelIfSet(spec, "hostname", c.spec.Hostname)
	c.dnsLabelIfSet(spec, "subdomain", c.spec.Subdomain)
	if c.spec.HostnameOverride != nil && c.since(hostnameOverrides) {
		c.hostnameOverride(spec, *c.spec.HostnameOverride)
	}
	for i := range c.spec.HostAliases {
		p := spec.Child("hostAliases").Index(i)
		c.ip(p.Child("ip"), c.spec.HostAliases[i].IP)
		for j, name := range c.spec.HostAliases[i].Hostnames {
			if !isDNSSubdomain(name) {
				c.invalidEach(p.Child("hostnames").Index(j), name, validation.IsDNS1123Subdomain(name))
			}
		}
	}
}

func (c *checker) hostnameOverride(spec *field.Path, name string) {
	p := spec.Child("hostnameOverride")
	if c.spec.SetHostnameAsFQDN != nil && *c.spec.SetHostnameAsFQDN {
		c.forbidden(p, "may not be specified when setHostnameAsFQDN is true")
	}
	if c.spec.HostNetwork {
		c.forbidden(p, "may not be specified when hostNetwork is true")
	}
	if len(name) > maxHostName {
		c.tooLong(p, maxHostName)
	}
	c.dnsSubdomain(spec, "hostnameOverride", name)
}
