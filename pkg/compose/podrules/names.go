package podrules

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The tests in this file are byte loops that accept exactly what the regular expressions of
// apimachinery accept. Nearly every name of a template passes, and a loop costs a tenth of the
// expression, which is only asked for the wording when a name fails.

// dnsLabel reports a value of the named field of p that is no DNS label.
func (c *checker) dnsLabel(p *field.Path, name, value string) {
	if !isDNSLabel(value) {
		c.invalidEach(p.Child(name), value, validation.IsDNS1123Label(value))
	}
}

// dnsLabelIfSet is dnsLabel for a field that may be empty.
func (c *checker) dnsLabelIfSet(p *field.Path, name, value string) {
	if value != "" {
		c.dnsLabel(p, name, value)
	}
}

// dnsSubdomain reports a value of the named field of p that is no DNS subdomain, the form of most
// object names.
func (c *checker) dnsSubdomain(p *field.Path, name, value string) {
	if !isDNSSubdomain(value) {
		c.invalidEach(p.Child(name), value, validation.IsDNS1123Subdomain(value))
	}
}

// dnsSubdomainIfSet is dnsSubdomain for a field that may be empty.
func (c *checker) dnsSubdomainIfSet(p *field.Path, name, value string) {
	if value != "" {
		c.dnsSubdomain(p, name, value)
	}
}

// dnsSubdomainPrefix is dnsSubdomain for the fields where the server takes a name for a prefix, in which
// a trailing dash is allowed.
func (c *checker) dnsSubdomainPrefix(p *field.Path, name, value string) {
	if !isDNSSubdomain(value) {
		c.invalidEach(p.Child(name), value, apivalidation.NameIsDNSSubdomain(value, true))
	}
}

// qualifiedName reports a value that has not the form of a label key.
func (c *checker) qualifiedName(p *field.Path, value string) {
	if !isQualifiedName(value) {
		c.invalidEach(p, value, validation.IsQualifiedName(value))
	}
}

func isDNSLabel(s string) bool {
	return len(s) <= validation.DNS1123LabelMaxLength && !strings.Contains(s, ".") && isDNSName(s)
}

func isDNSSubdomain(s string) bool {
	return len(s) <= validation.DNS1123SubdomainMaxLength && isDNSName(s)
}

// isDNSName holds for labels of lower case letters, digits and inner dashes, joined by dots.
func isDNSName(s string) bool {
	previous := byte('.')
	for i := range len(s) {
		b := s[i]
		switch {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
		case b == '-' && previous != '.':
		case b == '.' && previous != '.' && previous != '-':
		default:
			return false
		}
		previous = b
	}
	return previous != '.' && previous != '-'
}

func isQualifiedName(s string) bool {
	prefix, name, found := strings.Cut(s, "/")
	if !found {
		return s != "" && isLabelValue(s)
	}
	return isDNSSubdomain(prefix) && name != "" && isLabelValue(name)
}

// isLabelValue holds for at most 63 letters, digits, '-', '_' and '.', the first and last being a letter
// or a digit, and for nothing at all.
func isLabelValue(s string) bool {
	if len(s) > validation.LabelValueMaxLength {
		return false
	}
	for i := range len(s) {
		inner := i > 0 && i < len(s)-1
		if !isAlphanumeric(s[i]) && (!inner || s[i] != '-' && s[i] != '_' && s[i] != '.') {
			return false
		}
	}
	return true
}

func isAlphanumeric(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
