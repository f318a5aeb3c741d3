// Package executor works with a session's objects on a real cluster.
//
// A Client speaks to one API server (clients.go). Every failure that it returns is an *Error with a Reason on which a
// caller can decide, and the server's own words (errors.go, classify.go). DryRunPod and DryRunClaim ask what admission
// would make of an object (dryrun.go). Exec and Forward carry streams, by WebSocket or SPDY (stream.go, forward.go).
// Probe puts all of it to the proof before the first session (probe.go): the connection, the permissions
// (permissions.go), admission, and a disposable Pod through which streams are sent.
//
// Nothing of the package keeps, logs or returns a credential.
package executor

//go:generate go test . -run TestManifests -update
