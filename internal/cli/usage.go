package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// boolValue is what pflag prints after a flag that needs no value.
const boolValue = "[=true|false]"

// helpWidth is the width of help where no terminal has a smaller one.
const helpWidth = 100

func init() {
	cobra.AddTemplateFunc("wrapped", func(f *pflag.FlagSet) string {
		width, _ := terminal(os.Stdout)
		if width <= 0 || width > helpWidth {
			width = helpWidth
		}
		return strings.ReplaceAll(f.FlagUsagesWrapped(width), boolValue, strings.Repeat(" ", len(boolValue)))
	})
}

// usageTemplate is cobra's template with the flags' texts wrapped.
func usageTemplate(cobras string) string {
	return strings.ReplaceAll(cobras, ".LocalFlags.FlagUsages", "wrapped .LocalFlags")
}

// noCommand refuses a word that is no command, and names the nearest one.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return seeHelp(c, errors.New(text))
}

// flagError adds to what is wrong with a flag which one was probably meant.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearestFlag(c, unknown.GetSpecifiedName()); near != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return seeHelp(c, err)
}

// nearestFlag returns the name of a flag that differs little from another, "" if there is none.
func nearestFlag(c *cobra.Command, name string) string {
	best, bestDistance := "", 3
	c.Flags().VisitAll(func(f *pflag.Flag) {
		d := levenshtein.ComputeDistance(f.Name, name)
		if len(name) > 2 && strings.HasPrefix(f.Name, name) {
			d = 1
		}
		if d < bestDistance && d < len(name) {
			best, bestDistance = f.Name, d
		}
	})
	return best
}

// seeHelp marks an error as one of the invocation and says where the right one is described.
func seeHelp(c *cobra.Command, err error) error {
	return unusable(fmt.Errorf("%w\nsee %s --help", err, c.CommandPath()))
}

// arguments demands between least and most of the arguments that are called what.
func arguments(least, most int, what string) cobra.PositionalArgs {
	wanted := fmt.Sprintf("exactly %d %s", least, what)
	switch {
	case most == 0:
		wanted = "no arguments"
	case least < most:
		wanted = fmt.Sprintf("at most %d %s", most, what)
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return seeHelp(c, fmt.Errorf("%s takes %s, not %d", c.CommandPath(), wanted, len(args)))
	}
}
