// Package bootstrap holds the command of the main container: a POSIX sh script that waits for a verified
// upload and becomes the agent, and the two file formats that the uploader and the script share.
//
// # The order of an upload
//
// Everything goes through pods/exec into the main container. The uploader
//
//  1. removes [MarkerPath], when this is a second upload into the same Pod;
//  2. writes [AgentPath] (0755), [RuntimeEnvPath] and [PreparePath], then [AuthEnvPath] (0600) and the files
//     below [HomePath] (0600), each to a temporary file beside its place, verified there by size and
//     SHA-256, then renamed;
//  3. runs [PrepareCommand] and waits for its end;
//  4. writes the [Marker] to a temporary file in the runtime volume and renames it to [MarkerPath];
//  5. runs [WakeScript] in a shell.
//
// Steps 4 and 5 may be repeated at will. An uploader that took over from one that died, or that sees the
// agent not coming up, does so: the marker is the truth, the wake-up only a reason to look at it.
//
// # What the script does
//
// It looks for [MarkerPath] and, while there is none, blocks in a read of the FIFO [WakePath], which it made;
// where FIFOs cannot be made it looks once a second. It holds the FIFO open for reading and writing before
// it looks, so a line written at any time after is seen, and a line without a marker changes nothing. Then it
// checks every file that the marker lists, but does not hash the agent where the last line was [WakeVerified], makes [HomePath] (0700), enters /workspace, exports what the two
// environment files say and HOME, removes [TokenPath], and replaces itself with [AgentPath], which so is process 1 and gets the
// signals. A restarted container finds the marker and does the same at once, with all checks.
//
// A stop signal ends the wait at once, with status [ExitSignal]. Nothing of the environment files is ever
// printed, evaluated or put into an argument list.
//
// Files below [HomePath] are not listed in a marker: preparation and the agent rewrite them (tokens are
// refreshed, tools are configured), so after the upload their digest says nothing. They are verified once,
// by the uploader, before they get their name.
//
// # What the image must have
//
// See [Tools]. mkfifo is used where it is there; without it, sleep must be. The script is tested under dash,
// busybox sh and bash. It needs no particular user, no writable root filesystem and no umask.
//
// # The environment files
//
// See [EncodeEnv]: NAME=VALUE lines, taken as they stand without quoting or expansion. A line that begins
// with + continues the value of the line before after a newline:
//
//	GREETING=two lines, $HOME and "quotes" are plain text
//	+second line
//
// # Why the script looks as it does
//
// The kubelet expands $(NAME) in a container's command from the container's environment, whose names the
// template chooses, and turns two dollar signs into one. The script has neither, so what runs is what was
// composed. All its variables begin with _k_, so it changes none of the container's own.
package bootstrap
