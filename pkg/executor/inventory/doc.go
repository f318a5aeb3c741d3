// Package inventory says what a backend must know of its sessions so that it never loses one and never deletes
// what is not its own. The inventory, executors_running, is the authority: what it does not hold is not Kandev's to
// touch, and what it holds is looked after until it is gone.
//
// # The story of a row
//
// A lifecycle instance is one row and one launch snapshot. Create writes both before anything exists on the
// cluster. From then on the row runs ahead of the cluster by exactly one request: before a create request leaves,
// an Intent with the object's kind and name, the request's nonce and its digest is in the row, and after the
// answer the UID of what came of it. Whoever reads the row after a crash knows which request may be under way, and by
// the nonce which object it made. A row names a Pod, or a managed claim, only by the UID of such an intent; so what
// cleanup may delete is what a recorded request created, and nothing else. The states and the ways between them are
// in state.go; what a write may change, in update.go. When Pod and claim are gone the row becomes Cleaned, and only
// then can it be deleted: the row goes last.
//
// The snapshot never changes. It is kept beside the row, so that writing the row, which happens often, does not
// write it again.
//
// # Two writers
//
// Several backends can share an inventory, and a backend has many goroutines. Two counters keep them apart.
//
// The Generation increases by one at every write. A write names the generation that it was made from and
// fails with a *ConflictError when another came first: read again, decide again.
//
// The Epoch increases by one whenever a row changes hands. A write names its Holder, which is the owner and the
// epoch since which it holds the row, and fails with a *FencedError when the row has another: whoever gets
// this has lost the instance and stops. TakeOver names the holder that it takes the row from, so of two that take over
// from the same holder one succeeds; there is never a moment with two holders, nor one in which both may write.
//
// No clock decides anything. Whether an owner is dead cannot be known from here, and a lease that expires by a
// clock is a guess that a paused process or a wrong clock makes false. So taking over is the caller's explicit
// decision, and the epoch makes a wrong one harmless to the row. It does not reach the API server: an owner that was
// fenced after its last write may still send the one request that this write announced. That request is in the
// row which the new owner reads, as a pending intent whose nonce proves the object, or as the state Cleaning with the UID
// to delete; both owners then want the same thing. CreatedAt and UpdatedAt are for people.
//
// # What fails
//
// Everything fails closed. An error that wraps ErrUncertain leaves open whether the write was made: Get tells, by the
// generation. After any other error of a write, nothing was written. A row that does not hold together is
// ErrCorrupt wherever it is met, in List too.
//
// # Secrets
//
// There is no place for one. Every text in a row has a form that is checked whenever it is written and read:
// label values (the identity), DNS names, UUIDs, hex digits of fixed length, words of a closed list. An error is kept as a code
// and the object that it concerns, never as a text; and errors of this package name fields, not values. What an
// administrator writes into a Pod template is in the snapshot, as it is on the cluster.
package inventory
