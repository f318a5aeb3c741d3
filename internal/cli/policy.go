package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/lint"
	"github.com/kandev/kandev-podlint/policy"
)

func newPolicy() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Test policies, and write the admission policy of a namespace",
		Args:  noCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPolicyTest(), newPolicyExport())
	return c
}

// policyTestCommand is one run of policy test.
type policyTestCommand struct{ output *outputFlags }

func newPolicyTest() *cobra.Command {
	t := &policyTestCommand{}
	c := &cobra.Command{
		Use:   "test [DIR...]",
		Short: "Run the unit tests of Rego policies",
		Long: `Run the unit tests of Rego policies: the rules named test_* in files that end in _test.rego. Without a
DIR these are the pack's own and those of the policies that the configuration of the current directory
names. Tests in a DIR may use the pack.`,
		Example: `  kandev-podlint policy test
  kandev-podlint policy test policies/ --verbose`,
		RunE: func(c *cobra.Command, dirs []string) error {
			return t.run(c.Context(), dirs, c.OutOrStdout())
		},
	}
	t.output = addOutputFlags(c, []string{"text", "json", "yaml"})
	return c
}

func (t *policyTestCommand) run(ctx context.Context, dirs []string, stdout io.Writer) error {
	tested, err := testPolicies(ctx, dirs)
	if err != nil {
		return unusable(err)
	}
	err = t.output.write(stdout, each(func(to *target) error { return t.print(to, tested) }))
	if err == nil && !tested.Passed() {
		return errFindings
	}
	return err
}

// testPolicies runs the tests in some directories, or the pack's and those of the configuration here.
func testPolicies(ctx context.Context, dirs []string) (*policy.TestReport, error) {
	if len(dirs) > 0 {
		r, err := policy.Test(ctx, dirs...)
		if err == nil && len(r.Tests) == 0 {
			err = fmt.Errorf("no unit test found in %s: a test is a rule test_NAME in a file NAME_test.rego", strings.Join(dirs, ", "))
		}
		return r, err
	}
	config, err := lint.FindConfig(".")
	if err != nil {
		return nil, err
	}
	r, err := policy.Test(ctx)
	if err != nil || len(config.PolicyDirs()) == 0 {
		return r, err
	}
	user, err := policy.Test(ctx, config.PolicyDirs()...)
	if err != nil {
		return nil, err
	}
	r.Tests = append(r.Tests, user.Tests...)
	r.Coverage = append(r.Coverage, user.Coverage...)
	return r, nil
}

func (t *policyTestCommand) print(to *target, r *policy.TestReport) error {
	if to.format == "text" {
		return t.text(to.w, r)
	}
	view := viewTests(r)
	if to.format == "json" {
		return encodeJSON(to.w, view)
	}
	data, err := yaml.Marshal(view)
	if err != nil {
		return err
	}
	_, err = to.w.Write(data)
	return err
}

// text prints what failed, with --verbose every test, and the count.
func (t *policyTestCommand) text(w io.Writer, r *policy.TestReport) error {
	var errs []error
	say := func(format string, args ...any) {
		_, err := fmt.Fprintf(w, format, args...)
		errs = append(errs, err)
	}
	for _, x := range r.Tests {
		failed := x.Verdict == policy.Fail || x.Verdict == policy.Errored
		if !failed && !t.output.verbose {
			continue
		}
		say("%s:%d: %s %s.%s\n", x.File, x.Line, strings.ToUpper(string(x.Verdict)), x.Package, x.Name)
		if failed {
			say("%s%s", indented(x.Message), indented(x.Output))
		}
	}
	if t.output.verbose {
		for _, c := range r.Coverage {
			say("%s: %.0f %% covered%s\n", c.File, c.Percent(), missed(c.Missed))
		}
	}
	if !t.output.quiet || !r.Passed() {
		say("%s\n", viewTests(r).Summary)
	}
	return errors.Join(errs...)
}

// indented sets every line of a text back under a headline.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

func missed(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	return ", not lines " + strings.Trim(fmt.Sprint(lines), "[]")
}
