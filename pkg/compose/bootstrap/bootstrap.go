package bootstrap

import (
	_ "embed"
	"slices"
	"strings"
)

// The files of an upload, at the places where the script looks for them.
const (
	AgentPath      = "/opt/kandev/agentctl"      // the agent's control program, 0755
	RuntimeEnvPath = "/opt/kandev/runtime.env"   // see EncodeEnv
	PreparePath    = "/opt/kandev/prepare.sh"    // run by PrepareCommand, before the marker is written
	AuthEnvPath    = "/run/kandev/auth.env"      // see EncodeEnv, 0600
	HomePath       = "/run/kandev/home"          // the agent's HOME, 0700, made by the script where it is missing
	TokenPath      = "/run/kandev/control-token" //nolint:gosec // a path: where a backend leaves the token of the agent, 0600; the script removes it
	MarkerPath     = "/opt/kandev/start"         // see Marker, written last
	WakePath       = "/opt/kandev/wake"          // a FIFO, there only while the script waits
)

// WakeVerified is the line to write to WakePath in place of an empty one by who has just verified every file that the marker
// lists, after it was put in its place: the script then does not hash the agent again before this start.
const WakeVerified = "verified"

// WakeScript is the shell command that makes a waiting script look for the marker. It never blocks, and
// does nothing when no script waits.
const WakeScript = "[ ! -p " + WakePath + " ] || echo 1<>" + WakePath

// Exit statuses of the script. The agent's own are its own; 126 and 127 are the shell's, when the agent
// cannot be executed. Each comes with one line on standard error that names the file or tool.
const (
	ExitNoTool      = 80  // the image lacks one of Tools, or both of mkfifo and sleep
	ExitVolume      = 81  // /opt/kandev or /run/kandev is no directory, or not writable for this user, or TokenPath stays
	ExitMarker      = 82  // the start marker is malformed or cut off, or lacks a required file
	ExitPath        = 83  // the start marker lists a path outside the runtime and auth volumes, or in HomePath
	ExitSymlink     = 84  // a file of the upload, or a directory above it, is a symbolic link
	ExitMissing     = 85  // a file of the upload is missing, unreadable or not a regular file
	ExitSize        = 86  // a file is not as long as the marker says
	ExitDigest      = 87  // a file's SHA-256 is not the marker's
	ExitEnv         = 88  // an environment file is malformed
	ExitNotExec     = 89  // AgentPath is not executable for this user
	ExitHome        = 90  // HomePath cannot be made, or not be made private
	ExitWorkspace   = 91  // /workspace cannot be entered
	ExitSignal      = 143 // a stop signal came before the agent was started
	ExitCannotExec  = 126 // the shell could not execute the agent
	ExitNoSuchAgent = 127 // the shell did not find the agent, or its interpreter
)

//go:embed bootstrap.sh
var source string

// script is source without its comments, as it stands in Pod specs.
var script = StripComments(source)

// StripComments drops the lines of a shell script that hold only a comment, and empty lines.
func StripComments(src string) string {
	lines := slices.DeleteFunc(strings.Split(src, "\n"), func(line string) bool {
		text := strings.TrimSpace(line)
		return text == "" || strings.HasPrefix(text, "#")
	})
	return strings.Join(lines, "\n") + "\n"
}

// Options change how a command is made. The zero value is the one for Pods.
type Options struct {
	// Root is put before every path of the script. It is for tests, which have no volumes of their own at
	// the real paths; it becomes an argument, so nothing in a container's environment can set it.
	Root string
}

// Command returns the main container's command; the container has no args.
func Command(o Options) []string { return command("kandev-bootstrap", o) }

// PrepareCommand returns the command that the uploader executes in the main container, before it writes the
// marker, to run PreparePath in /workspace with the agent's environment and HOME. A script that is
// executable is run as it is, any other by /bin/sh. The exit status is the script's own, or one of the
// constants of this package.
func PrepareCommand(o Options) []string { return command("kandev-prepare", o) }

// command tells the script by its name, $0, what to do.
func command(name string, o Options) []string {
	argv := []string{"/bin/sh", "-c", script, name}
	if o.Root != "" {
		argv = append(argv, o.Root)
	}
	return argv
}

// Tools returns the programs, beside /bin/sh, that an image must have in its PATH: sha256sum, wc, mkdir, chmod
// and rm for the script, cat and mv for the uploader. The script checks for all of them before it waits.
func Tools() []string {
	return []string{"cat", "chmod", "mkdir", "mv", "rm", "sha256sum", "wc"}
}
