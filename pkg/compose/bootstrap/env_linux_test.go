package bootstrap

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestEnvRoundTrip hands values of every kind through each shell to the agent.
func TestEnvRoundTrip(t *testing.T) {
	var all, escapes strings.Builder
	for b := 1; b < 256; b++ {
		all.WriteByte(byte(b))
		escapes.WriteString(string([]byte{byte(b), '\\', byte(b), '\'', byte(b), '"', byte(b), '*'}))
	}
	values := []string{
		"", " ", "\n", "\n\n\n", "+", "\n+\n", "=", "a=b=c", " lead and trail \t", "'", `"`, "`id`", "$(id)", "${HOME}", "$HOME", "~",
		`\`, `\n`, `\\`, "a\\\nb", "*", "?[a]", "!x", "#x", "-n", "-p", "a\rb\r", "\t", "é ü 漢字 🙂", "Á\u0081\u0088", "\xff\xfe", "(a b)", "&& ; | >f",
		"-----BEGIN KEY-----\nMIIB\n\n+x\n-----END KEY-----\n", all.String(), escapes.String(), strings.Repeat("x", 20_000),
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		value := make([]byte, rnd.IntN(200))
		for i := range value {
			value[i] = byte(1 + rnd.IntN(255))
		}
		values = append(values, string(value))
	}
	var vars []EnvVar
	for i, v := range values {
		vars = append(vars, EnvVar{"V_" + strings.Repeat("x", i), v})
	}
	eachShell(t, func(_ *testing.T, p *pod) {
		for _, locale := range []string{"C", "C.UTF-8"} {
			p.env = append(p.env, "LC_ALL="+locale)
			p.sendEnv(vars)
		}
	})
}

// TestEnvNames hands on variables that mean something to a shell. Those that it cannot, EncodeEnv refuses.
func TestEnvNames(t *testing.T) {
	names := strings.Fields(`PATH IFS ENV CDPATH MAIL MAILPATH MAILCHECK PS1 PS2 PS4 LANG LC_ALL LC_CTYPE TERM OPTARG OPTERR OPTIND
		PPID PWD OLDPWD LINENO RANDOM SECONDS UID EUID GROUPS SHELL SHLVL SHELLOPTS HOSTNAME HOSTTYPE OSTYPE MACHTYPE USER LOGNAME HOME TMPDIR
		BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT BASH_ENV BASH_EXECUTION_STRING
		BASH_LINENO BASH_LOADABLES_PATH BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION BASH_XTRACEFD CHILD_MAX COLUMNS
		COMP_WORDBREAKS COPROC DIRSTACK EPOCHREALTIME EPOCHSECONDS EXECIGNORE FCEDIT FIGNORE FUNCNAME FUNCNEST GLOBIGNORE HISTCMD HISTFILE
		HISTSIZE HISTTIMEFORMAT IGNOREEOF INPUTRC LINES MAPFILE PIPESTATUS POSIXLY_CORRECT PROMPT_COMMAND REPLY SRANDOM TIMEFORMAT TMOUT TZ
		_ _1 a __ LD_PRELOAD_ http_proxy NO_PROXY root line set got`)
	var vars []EnvVar
	for _, name := range names {
		if IsPortableName(name) {
			vars = append(vars, EnvVar{name, map[bool]string{true: os.Getenv("PATH"), false: "1.x " + name}[name == "PATH"]})
		}
	}
	eachShell(t, func(_ *testing.T, p *pod) { p.sendEnv(vars) })
}

// sendEnv uploads the variables and compares what the agent gets.
func (p *pod) sendEnv(vars []EnvVar) {
	p.t.Helper()
	p.upload(vars...)
	p.mark()
	c := p.start()
	got := c.recorded("agent")
	if status := c.wait(); status != 0 || c.said.Len() > 0 {
		p.t.Errorf("status %d: %s", status, c.said.String())
	}
	for _, v := range vars {
		if value, ok := got[v.Name]; !ok || value != v.Value {
			p.t.Errorf("%s arrived as %q (%v), want %q", v.Name, value, ok, v.Value)
		}
	}
}
