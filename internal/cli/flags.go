package cli

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
	"github.com/kandev/kandev-podlint/policy"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value   string
	name    string // what help calls the value
	choices []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return c.name }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.choices, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.choices, ", "))
	}
	c.value = s
	return nil
}

// choiceFlag adds a flag of a few words, which shells complete.
func choiceFlag(c *cobra.Command, flag, name, value string, choices []string, usage string) *choice {
	v := &choice{value: value, name: name, choices: choices}
	c.Flags().Var(v, flag, usage+": "+strings.Join(choices, ", "))
	complete(c, flag, choices)
	return v
}

func complete(c *cobra.Command, flag string, words []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a fault of this program
	}
}

// profileFlags are the flags that describe the profile with which a template is used.
type profileFlags struct {
	file          string
	mainContainer string
	platform      *choice
	mode          *choice
	claimName     string
}

// addMainContainer adds the flags that say which container is the agent's.
func (p *profileFlags) addMainContainer(c *cobra.Command) {
	c.Flags().StringVar(&p.file, "profile", "", "profile `FILE` for templates that stand alone")
	c.Flags().StringVar(&p.mainContainer, "main-container", "", "`NAME` of the agent's container (default "+compose.DefaultMainContainer+")")
}

// addProfileFlags adds every flag that describes a profile.
func addProfileFlags(c *cobra.Command) *profileFlags {
	p := &profileFlags{}
	p.addMainContainer(c)
	p.platform = choiceFlag(c, "platform", "PLATFORM", "", stringsOf(compose.Platforms()), "platform of the session's Pod")
	p.mode = choiceFlag(c, "workspace-mode", "MODE", "", stringsOf(compose.WorkspaceModes()), "where the workspace is kept")
	c.Flags().StringVar(&p.claimName, "claim-name", "", "`NAME` of the existing claim; implies --workspace-mode "+string(compose.ExistingClaim))
	return p
}

// addIdentityFlags adds the flags that say whose session it is; the values there are the defaults.
func addIdentityFlags(f *pflag.FlagSet, id *compose.Identity) {
	f.StringVar(&id.InstanceID, "instance-id", id.InstanceID, "instance `ID`")
	f.StringVar(&id.ExecutorID, "executor-id", id.ExecutorID, "executor `ID`")
	f.StringVar(&id.ProfileID, "profile-id", id.ProfileID, "profile `ID`")
	f.StringVar(&id.TaskID, "task-id", id.TaskID, "task `ID`")
	f.StringVar(&id.SessionID, "session-id", id.SessionID, "session `ID`")
	f.StringVar(&id.EnvironmentID, "environment-id", id.EnvironmentID, "environment `ID`")
	f.StringVar(&id.Name, "name", "", "the Pod's `NAME` (default made from the instance ID)")
}

func stringsOf[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = string(v)
	}
	return out
}

// stated returns what the flags themselves say, to be written over any other profile.
func (p *profileFlags) stated() (compose.Profile, error) {
	mode := compose.WorkspaceMode(p.mode.value)
	if p.claimName != "" && mode == "" {
		mode = compose.ExistingClaim
	}
	stated := compose.Profile{
		MainContainer: p.mainContainer,
		Platform:      compose.Platform(p.platform.value),
		Workspace:     compose.Workspace{Mode: mode, ClaimName: p.claimName},
	}
	for _, err := range stated.WithDefaults().Validate() {
		if err.Type != field.ErrorTypeRequired { // a claim without a name here may have one in the profile
			return stated, unusable(fmt.Errorf("%s: %s", profileFlag[err.Field], err.ErrorBody()))
		}
	}
	return stated, nil
}

// profileFlag is the flag that states a profile's key.
var profileFlag = map[string]string{
	"main_container": "--main-container", "workspace.claim_name": "--claim-name",
}

// base returns the profile of --profile.
func (p *profileFlags) base() (compose.Profile, error) {
	if p.file == "" {
		return compose.Profile{}, nil
	}
	data, err := os.ReadFile(p.file)
	if err != nil {
		return compose.Profile{}, unusable(fmt.Errorf("--profile: %w", err))
	}
	d, violations := compose.ParseProfile(data)
	if d == nil || hasErrors(violations) {
		return compose.Profile{}, unusable(fmt.Errorf("--profile: %s cannot be used\n%w", p.file, violationsError(p.file, violations)))
	}
	if reflect.ValueOf(d.Profile).IsZero() && d.Template == nil && d.TemplateFile == "" {
		return compose.Profile{}, unusable(fmt.Errorf("--profile: %s holds no profile: none of main_container, platform and workspace", p.file))
	}
	return d.Profile, nil
}

func hasErrors(vs []compose.Violation) bool {
	return slices.ContainsFunc(vs, func(v compose.Violation) bool { return v.Severity == finding.Error })
}

// violationsError puts the violations of a file in one error, a line each.
func violationsError(file string, vs []compose.Violation) error {
	errs := make([]error, 0, len(vs))
	for _, v := range vs {
		errs = append(errs, fmt.Errorf("%s:%d:%d: %s; %s", file, v.Place.Start.Line, v.Place.Start.Column, v.Detail, v.Remedy))
	}
	return errors.Join(errs...)
}

// kubeVersion is a Kubernetes minor version: 1.36.
type kubeVersion string

// oldestMinor is the oldest version that --kube-version takes: Pod Security Standards start there.
const oldestMinor, newestMinor = 24, 37

func (k *kubeVersion) String() string { return string(*k) }
func (k *kubeVersion) Type() string   { return "VERSION" }

func (k *kubeVersion) Set(s string) error {
	minor, ok := strings.CutPrefix(strings.TrimPrefix(s, "v"), "1.")
	n, err := strconv.Atoi(minor)
	if !ok || err != nil || n < oldestMinor || n > newestMinor {
		return fmt.Errorf("must be a version from 1.%d to 1.%d", oldestMinor, newestMinor)
	}
	*k = kubeVersion(fmt.Sprintf("1.%d", n))
	return nil
}

func addKubeVersion(f *pflag.FlagSet) *kubeVersion {
	k := new(kubeVersion)
	f.Var(k, "kube-version", fmt.Sprintf("Kubernetes version meant, 1.%d to 1.%d (default the newest)", oldestMinor, newestMinor))
	return k
}

// addFailOn adds --fail-on, the least severity that makes the exit status 1.
func addFailOn(c *cobra.Command) *choice {
	return choiceFlag(c, "fail-on", "SEVERITY", string(finding.Error), []string{"error", "warning", "info", "never"},
		"least severity that makes the exit status 1")
}

// fails reports whether a finding of a severity fails the run.
func (c *choice) fails(s finding.Severity) bool {
	if c.value == "never" {
		return false
	}
	return s.Rank() >= finding.Severity(c.value).Rank()
}

// selectFlags are the flags that choose among the rules of policies.
type selectFlags struct{ lint.Selection }

func addSelectFlags(c *cobra.Command) *selectFlags {
	s := &selectFlags{}
	f := c.Flags()
	f.StringSliceVar(&s.Groups, "group", nil, "policy rules of `GROUP` only, repeatable: "+strings.Join(lint.PolicyGroups(), ", "))
	f.StringSliceVar(&s.Only, "only", nil, "policy `RULE` only, repeatable; with --group beside those of the groups")
	f.StringSliceVar(&s.Skip, "skip", nil, "leave policy `RULE` out, repeatable")
	complete(c, "group", lint.PolicyGroups())
	for _, flag := range []string{"only", "skip"} {
		complete(c, flag, policyRuleNames())
	}
	return s
}

// policyRuleNames lists the rules of the pack.
func policyRuleNames() []string {
	var names []string
	for _, r := range policy.Catalogue() {
		names = append(names, r.Name)
	}
	return names
}
