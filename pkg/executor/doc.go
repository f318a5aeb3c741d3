// Package executor works with a session's objects on a real cluster.
//
// A Client speaks to one API server (clients.go). Every failure that it returns is an *Error with a Reason on which a
// caller can decide, and the server's own words (errors.go, classify.go). DryRunPod and DryRunClaim ask what admission
// would make of an object (dryrun.go). Exec and Forward carry streams, by WebSocket or SPDY (stream.go, forward.go).
// Probe puts all of it to the proof before the first session (probe.go): the connection, the permissions
// (permissions.go), admission, and a disposable Pod through which streams are sent.
//
// # A session's life
//
// An Executor (executor.go) leads sessions through the states of package inventory, and records each step before it is taken
// and after: a process that dies anywhere leaves enough to go on, or to clean up.
//
// Launch makes a row and a launch snapshot, from which everything is done later. In mode managed_pvc it creates the claim,
// then the Pod (create.go): each create request is recorded with its nonce before it leaves, and an answer that is lost
// is settled by that nonce. What admission changed of what is Kandev's makes the object be deleted again. When the main
// container runs (await.go) the session's Material is uploaded, verified, through pods/exec (bootstrap.go); the agent is
// started, proves over a forwarded port that it knows the nonce which it alone was given, and hands out a token
// (handshake.go). The result is a Session, with a Listener on 127.0.0.1 (listen.go) that outlives broken connections.
//
// Stop records that nobody uses the session. Reconnect reaches the Pod of the recorded name, UID and labels, and nothing else.
// Resume does what is left to do: it goes on with a launch, reconnects, or puts a new Pod, from the snapshot, in the place of one
// that was lost, around the recorded claim. Cleanup deletes Pod, managed claim and row, each only when UID and labels are
// the recorded ones (cleanup.go). Whatever does not match stops everything, and is left alone.
//
// A row is held by one process at a time. Release gives one up, TakeOver takes one from a process that has died.
//
// Nothing of the package keeps, logs or returns a credential.
package executor

//go:generate go test . -run TestManifests -update
