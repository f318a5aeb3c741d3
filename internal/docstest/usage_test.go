package docstest

import (
	"regexp"
	"strings"
	"testing"
)

var (
	subcommand = regexp.MustCompile(`(?m)^  ([a-z]+)  `)
	flagName   = regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z-]+)`)
)

// TestUsage demands that the usage speaks of every command and of each of its flags.
func TestUsage(t *testing.T) {
	usage := read(t, "docs/usage.md")
	shared := section(t, usage, "Flags of the profile") + section(t, usage, "Flags of the cluster") + section(t, usage, "Flags of the output")
	for _, name := range commands(t) {
		title := name
		switch group, _, _ := strings.Cut(name, " "); group {
		case "version":
			title = "version, completion"
		case "session":
			title = group
		}
		text := section(t, usage, title) + shared
		for _, flag := range flagName.FindAllStringSubmatch(help(t, name, "Flags:"), -1) {
			if flag[1] != "--help" && !regexp.MustCompile(flag[1]+`\b[^-]`).MatchString(text) {
				t.Errorf("docs/usage.md says nothing of %s %s", name, flag[1])
			}
		}
	}
}

// commands lists the commands that do something: groups and cobra's own are left out.
func commands(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, m := range subcommand.FindAllStringSubmatch(help(t, "", "Available Commands:"), -1) {
		switch m[1] {
		case "help", "completion":
		case "policy", "session":
			for _, sub := range subcommand.FindAllStringSubmatch(help(t, m[1], "Available Commands:"), -1) {
				out = append(out, m[1]+" "+sub[1])
			}
		default:
			out = append(out, m[1])
		}
	}
	return out
}

// help returns a paragraph of a command's help.
func help(t *testing.T, name, title string) string {
	t.Helper()
	text := run(t, append(strings.Fields(name), "--help"))
	_, rest, ok := strings.Cut(text, "\n"+title+"\n")
	if !ok {
		t.Fatalf("%s --help has no %q", name, title)
	}
	paragraph, _, _ := strings.Cut(rest, "\n\n")
	return paragraph
}

// section returns what stands below a heading of the second level, its blocks among it.
func section(t *testing.T, page, title string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n## "+title+"\n")
	if !ok {
		t.Errorf("docs/usage.md has no section %q", title)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}
