package bootstrap

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// MaxEnvBytes is the largest NAME=VALUE that Linux hands to a program, in bytes: MAX_ARG_STRLEN, which counts
// a final NUL, with pages of 4 KiB.
const MaxEnvBytes = 32*4096 - 1

// EnvVar is one environment variable of the agent. Its value may be any bytes but NUL.
type EnvVar struct {
	Name  string // a letter or _, then letters, digits and _
	Value string
}

// EncodeEnv returns the text of RuntimeEnvPath or AuthEnvPath: for each variable a line NAME=VALUE, in the order
// given, each newline in a value followed by a + sign, which the reader takes off. There is no quoting: all other
// bytes stand for themselves.
//
// It fails for a name that a shell cannot hand on unchanged or that the script sets itself, for a name given
// twice, and for a value with a NUL or longer than MaxEnvBytes with its name. Errors name the variable and
// never show a value.
func EncodeEnv(vars []EnvVar) ([]byte, error) {
	var b bytes.Buffer
	seen := make(map[string]bool, len(vars))
	for _, v := range vars {
		if err := checkEnvVar(v); err != nil {
			return nil, err
		}
		if seen[v.Name] {
			return nil, fmt.Errorf("environment variable %s is given twice", v.Name)
		}
		seen[v.Name] = true
		b.WriteString(v.Name + "=" + strings.ReplaceAll(v.Value, "\n", "\n+") + "\n")
	}
	return b.Bytes(), nil
}

func checkEnvVar(v EnvVar) error {
	switch {
	case !isShellName(v.Name):
		return fmt.Errorf("environment variable %q: the name is not letters, digits and _", v.Name)
	case !IsPortableName(v.Name):
		return fmt.Errorf("environment variable %s: the start script or a shell sets this name itself", v.Name)
	case strings.IndexByte(v.Value, 0) >= 0:
		return fmt.Errorf("environment variable %s: the value has a NUL byte", v.Name)
	case len(v.Name)+1+len(v.Value) > MaxEnvBytes:
		return fmt.Errorf("environment variable %s: longer than %d bytes with its name", v.Name, MaxEnvBytes)
	}
	return nil
}

// isShellName reports whether name is a name in the sense of POSIX, XBD 3.216.
func isShellName(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// shellNames are variables that dash, busybox sh or bash keeps for itself: read-only, or with a value that is
// not the one assigned.
var shellNames = []string{
	"_", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "LINENO", "OLDPWD", "OPTIND",
	"PIPESTATUS", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM", "UID",
	"BASHOPTS", "BASHPID", "BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_ARGV0", "BASH_CMDS", "BASH_COMMAND",
	"BASH_LINENO", "BASH_SOURCE", "BASH_SUBSHELL", "BASH_VERSINFO",
}

// IsPortableName reports whether the agent can be given a variable of this name: HOME is set by the script, names
// that begin with _k_ are the script's own, and some belong to one shell or another.
func IsPortableName(name string) bool {
	return isShellName(name) && name != "HOME" && !strings.HasPrefix(name, "_k_") && !slices.Contains(shellNames, name)
}
