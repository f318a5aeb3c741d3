package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// materialFlags name the files with what a session's Pod is given. Values are never taken from the command line, which other
// users of the machine can read.
type materialFlags struct {
	agent   string
	env     []string
	authEnv []string
	files   []string
	prepare string
}

func addMaterialFlags(c *cobra.Command) *materialFlags {
	m := &materialFlags{}
	f := c.Flags()
	f.StringVar(&m.agent, "agent", "", "`FILE` of the agentctl binary, for the platform of the session")
	f.StringArrayVar(&m.env, "env-file", nil, "`FILE` of NAME=VALUE lines for the agent's environment, repeatable")
	f.StringArrayVar(&m.authEnv, "auth-env-file", nil, "`FILE` of such lines with credentials, which are kept in memory alone, repeatable")
	f.StringArrayVar(&m.files, "file", nil, "`LOCAL=PATH`: a copy of a file, at a path below the agent's home, repeatable")
	f.StringVar(&m.prepare, "prepare", "", "shell script `FILE` that is run in /workspace before the agent starts")
	return m
}

// given reports whether any of the flags was.
func (m *materialFlags) given() bool {
	return m.agent != "" || m.prepare != "" || len(m.env)+len(m.authEnv)+len(m.files) > 0
}

// load reads the files.
func (m *materialFlags) load() (executor.Material, error) {
	var out executor.Material
	if m.agent == "" {
		return out, unusable(errors.New("--agent FILE is needed: the agentctl binary that the session's Pod is given"))
	}
	var err error
	if out.Agent, err = readBlob(m.agent); err != nil {
		return out, unusable(fmt.Errorf("--agent: %w", err))
	}
	if out.RuntimeEnv, err = readEnvFiles(m.env); err != nil {
		return out, unusable(fmt.Errorf("--env-file: %w", err))
	}
	if out.AuthEnv, err = readEnvFiles(m.authEnv); err != nil {
		return out, unusable(fmt.Errorf("--auth-env-file: %w", err))
	}
	if m.prepare != "" {
		if out.Prepare, err = readBlob(m.prepare); err != nil {
			return out, unusable(fmt.Errorf("--prepare: %w", err))
		}
	}
	for _, f := range m.files {
		file, err := readHomeFile(f)
		if err != nil {
			return out, unusable(fmt.Errorf("--file: %w", err))
		}
		out.Files = append(out.Files, file)
	}
	return out, unusable(out.Validate())
}

func readBlob(file string) (*upload.Blob, error) {
	data, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	return upload.NewBlob(data), nil
}

// readHomeFile reads LOCAL=PATH. The last = divides: a local name may be anything.
func readHomeFile(flag string) (upload.File, error) {
	n := strings.LastIndex(flag, "=")
	if n <= 0 || n == len(flag)-1 {
		return upload.File{}, errors.New("not of the form LOCAL=PATH")
	}
	local, remote := flag[:n], flag[n+1:]
	if path.IsAbs(remote) {
		return upload.File{}, fmt.Errorf("%s is not a path below the agent's home, such as .netrc", remote)
	}
	content, err := readBlob(local)
	return upload.File{Path: bootstrap.HomePath + "/" + remote, Mode: 0o600, Content: content}, err
}

func readEnvFiles(files []string) ([]bootstrap.EnvVar, error) {
	var out []bootstrap.EnvVar
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		vars, err := parseEnv(data)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", file, err)
		}
		out = append(out, vars...)
	}
	return out, nil
}

// parseEnv reads lines of NAME=VALUE. A value is all that follows the first =: there are no quotes and no escapes. Blank lines
// and those that begin with # are left out. Errors show no line: it may hold a credential.
func parseEnv(data []byte) ([]bootstrap.EnvVar, error) {
	var out []bootstrap.EnvVar
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%d: the line is not NAME=VALUE", n)
		}
		if _, err := bootstrap.EncodeEnv([]bootstrap.EnvVar{{Name: name}}); err != nil {
			return nil, fmt.Errorf("%d: the name before = is not that of a variable", n)
		}
		out = append(out, bootstrap.EnvVar{Name: name, Value: value})
	}
	return out, nil
}
