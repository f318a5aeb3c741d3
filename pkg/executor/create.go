package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// maxCreates bounds how many create requests one call sends for one object: each after one that certainly created nothing.
const maxCreates = 3

// kindOf is how objects of a kind are created.
type kindOf[T object] struct {
	kind     inventory.Kind
	resource string
	compose  func(*instance) T // the request, a copy of the caller's
	get      func(c *Client, ctx context.Context, namespace, name string) (T, error)
	empty    func() T
	compare  func(i *instance, requested, admitted T, phase admission.Phase) (admission.Report, error)
}

var podKind = kindOf[*corev1.Pod]{
	kind: inventory.Pod, resource: podResource,
	compose: func(i *instance) *corev1.Pod { return i.objects.Pod.DeepCopy() },
	get:     (*Client).GetPod,
	empty:   func() *corev1.Pod { return &corev1.Pod{} },
	compare: func(i *instance, requested, admitted *corev1.Pod, phase admission.Phase) (admission.Report, error) {
		return admission.ComparePod(requested, admitted, admission.Options{MainContainer: i.main(), Phase: phase})
	},
}

var claimKind = kindOf[*corev1.PersistentVolumeClaim]{
	kind: inventory.PersistentVolumeClaim, resource: claimResource,
	compose: func(i *instance) *corev1.PersistentVolumeClaim { return i.objects.Claim.DeepCopy() },
	get:     (*Client).GetClaim,
	empty:   func() *corev1.PersistentVolumeClaim { return &corev1.PersistentVolumeClaim{} },
	compare: func(i *instance, requested, admitted *corev1.PersistentVolumeClaim, phase admission.Phase) (admission.Report, error) {
		return admission.ComparePVC(requested, admitted, admission.Options{MainContainer: i.main(), Phase: phase}), nil
	},
}

// ensure makes sure that the session has its object of a kind: the recorded one, the one that a request of the past created, or
// a new one. Of requests there is never more than one of which it is not known what came of it.
func ensure[T object](ctx context.Context, i *instance, k kindOf[T]) error {
	var last error
	for range maxCreates {
		switch {
		case i.recorded(k.kind) != nil:
			return nil
		case i.open(k.kind) < 0:
			again, err := request(ctx, i, k)
			if err != nil && !again {
				return err
			}
			last = err
		default:
			again, err := reconcile(ctx, i, k)
			if err != nil && !again {
				return err
			}
			last = err
		}
	}
	if i.recorded(k.kind) != nil {
		return nil
	}
	return last
}

// request records a create request, sends it, and records what came of it. Again says that the request created nothing, and
// that another may fare better.
func request[T object](ctx context.Context, i *instance, k kindOf[T]) (again bool, err error) {
	if ctx.Err() != nil {
		return false, endedError(ctx)
	}
	requested := k.compose(i)
	nonce := compose.NewNonce()
	compose.SetNonce(requested, nonce)
	intent := inventory.Intent{Kind: k.kind, Name: requested.GetName(), Nonce: nonce, SHA256: digest(requested), Outcome: inventory.Pending}
	err = i.write(ctx, func(r *inventory.Row) { r.Intents = append(keptIntents(r), intent) })
	if err != nil {
		return false, err
	}
	i.tell(ctx, Event{Kind: Requested, Object: k.kind, Name: intent.Name})
	admitted := k.empty()
	// The end of the caller's context would leave an answer that nobody reads; the client's own bound ends the request.
	err = i.Client.create(context.WithoutCancel(ctx), k.resource, requested, admitted, false)
	switch reason := reasonOf(err); {
	case err == nil:
		return false, accept(ctx, i, k, requested, admitted, admission.AtCreate)
	case reason == AlreadyExists:
		return taken(ctx, i, k, requested, err)
	case uncertain(reason):
		i.tell(ctx, Event{Kind: Unconfirmed, Object: k.kind, Name: intent.Name, Reason: reason, Detail: err.Error()})
		if recordErr := i.outcome(ctx, nonce, inventory.Ambiguous); recordErr != nil {
			return false, recordErr
		}
		return true, err
	}
	if recordErr := i.outcome(ctx, nonce, inventory.Refused); recordErr != nil {
		return false, recordErr
	}
	if transient(err) {
		wait(ctx, pause)
	}
	return transient(err), err
}

// taken settles a request that met an object of its name. That may be its own: a request can arrive twice. Any other keeps
// the request's own from being created, so nothing is left open.
func taken[T object](ctx context.Context, i *instance, k kindOf[T], requested T, err error) (again bool, _ error) {
	ctx = context.WithoutCancel(ctx)
	nonce := requested.GetAnnotations()[compose.NonceAnnotation]
	there, getErr := k.get(i.Client, ctx, i.Namespace, requested.GetName())
	switch {
	case getErr == nil && there.GetAnnotations()[compose.NonceAnnotation] == nonce:
		return false, accept(ctx, i, k, requested, there, admission.Reconcile)
	case getErr != nil: // it is gone again, or cannot be seen
		return true, errors.Join(err, i.outcome(ctx, nonce, inventory.Ambiguous))
	}
	if recordErr := i.outcome(ctx, nonce, inventory.Refused); recordErr != nil {
		return false, recordErr
	}
	return false, quarantined(k.kind, there)
}

// quarantined is the error of an object that has the session's name or labels and is not known to be its own. It may be
// somebody else's, or ours with its nonce taken off; nothing is done to it.
func quarantined(kind inventory.Kind, o object) error {
	return &Error{Reason: Quarantined, Subject: o.GetName(), Message: fmt.Sprintf(
		"%s %s (UID %s) has the session's name or labels, and no nonce shows that it is the session's; it was left alone", kind, o.GetName(), o.GetUID())}
}

// uncertain reports whether a create request that failed so may have created its object.
func uncertain(r Reason) bool {
	switch r {
	case Ambiguous, UnknownFields, ServerError, Interrupted, "":
		return true
	}
	return false
}

// keptIntents are the requests that are still of use: older ones that created nothing are only noise.
func keptIntents(r *inventory.Row) []inventory.Intent {
	return slices.DeleteFunc(slices.Clone(r.Intents), func(n inventory.Intent) bool { return n.Outcome == inventory.Refused })
}

// outcome records what came of a request that created no known object.
func (i *instance) outcome(ctx context.Context, nonce string, o inventory.Outcome) error {
	return i.write(ctx, func(r *inventory.Row) {
		n := slices.IndexFunc(r.Intents, func(n inventory.Intent) bool { return n.Nonce == nonce })
		r.Intents[n].Outcome = o
	})
}

// reconcile finds out what came of the open request for a kind. Again says that it created nothing, so that another may follow.
func reconcile[T object](ctx context.Context, i *instance, k kindOf[T]) (again bool, err error) {
	intent := i.row.Intents[i.open(k.kind)]
	requested := k.compose(i)
	compose.SetNonce(requested, intent.Nonce)
	found, settled := i.Client.find(ctx, &created{resource: k.resource, requested: requested}, createBound)
	switch {
	case found != nil && digest(requested) != intent.SHA256:
		return false, &Error{Reason: Quarantined, Subject: found.GetName(), Message: fmt.Sprintf(
			"%s %s was created by a request that this version would not send, so it cannot be compared", k.kind, found.GetName())}
	case found != nil:
		admitted, err := k.get(i.Client, ctx, i.Namespace, found.GetName())
		if err != nil {
			return false, err
		}
		if admitted.GetUID() != found.GetUID() {
			return false, &Error{Reason: Replaced, Subject: found.GetName(), Message: fmt.Sprintf("%s %s was replaced while it was looked at", k.kind, found.GetName())}
		}
		return false, accept(ctx, i, k, requested, admitted, admission.Reconcile)
	case !settled && ctx.Err() != nil:
		return false, endedError(ctx)
	case !settled:
		return false, &Error{Reason: Ambiguous, Subject: intent.Name, Message: fmt.Sprintf("whether %s %s was created cannot be found out now", k.kind, intent.Name)}
	}
	if err := quarantine(ctx, i, k, requested); err != nil {
		return false, err
	}
	return true, i.outcome(ctx, intent.Nonce, inventory.Refused)
}

// quarantine fails where an object bears the session's labels, or its name, that no recorded request is known to have created.
func quarantine[T object](ctx context.Context, i *instance, k kindOf[T], requested T) error {
	candidates, err := i.Client.candidates(ctx, &created{resource: k.resource, requested: requested})
	if err != nil {
		return err
	}
	for _, o := range candidates {
		if !i.committed(k.kind, o.GetUID()) {
			return quarantined(k.kind, o)
		}
	}
	return nil
}

// committed reports whether a recorded request created an object.
func (i *instance) committed(kind inventory.Kind, uid types.UID) bool {
	return slices.ContainsFunc(i.row.Intents, func(n inventory.Intent) bool {
		return n.Kind == kind && n.Outcome == inventory.Committed && n.UID == uid
	})
}

// accept records the object that the open request created, if admission left it what it was asked to be, and deletes it
// otherwise. That it is the request's own, the answer or the nonce has shown.
func accept[T object](ctx context.Context, i *instance, k kindOf[T], requested, admitted T, phase admission.Phase) error {
	report, err := k.compare(i, requested, admitted, phase)
	if err != nil {
		return err
	}
	if err := i.commit(ctx, k.kind, admitted); err != nil {
		return err
	}
	i.tell(ctx, Event{Kind: Created, Object: k.kind, Name: admitted.GetName()})
	if report.Compatible {
		return nil
	}
	tampered := &Error{Reason: Tampered, Subject: admitted.GetName(), Message: violations(report)}
	if err := i.discard(ctx, k.kind, k.resource); err != nil {
		return fmt.Errorf("%w; and it could not be deleted: %w", tampered, err)
	}
	return tampered
}

// commit records the object that the open request for a kind created.
func (i *instance) commit(ctx context.Context, kind inventory.Kind, created object) error {
	n := i.open(kind)
	return i.write(ctx, func(r *inventory.Row) {
		r.Intents[n].Outcome, r.Intents[n].UID = inventory.Committed, created.GetUID()
		o := &inventory.Object{Name: created.GetName(), UID: created.GetUID()}
		if kind == inventory.Pod {
			r.Pod = o
		} else {
			r.Claim = o
		}
	})
}

// violations lists what admission changed, in one sentence.
func violations(r admission.Report) string {
	said := make([]string, len(r.Violations))
	for n, v := range r.Violations {
		said[n] = v.Path + ": " + v.Message
	}
	return strings.Join(said, "; ")
}

// discard deletes a recorded object that admission changed, and forgets it. A claim is forgotten only by cleaning, so the
// session goes there.
func (i *instance) discard(ctx context.Context, kind inventory.Kind, resource string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := i.Client.deleteAndWait(ctx, place{resource, i.Namespace, i.recorded(kind).Name}, i.recorded(kind).UID, ""); err != nil {
		return err
	}
	return i.write(ctx, func(r *inventory.Row) {
		if kind == inventory.Pod {
			r.Pod = nil
			return
		}
		r.State, r.Claim = inventory.Cleaning, nil
	})
}

// digest is the SHA-256 of a request's canonical bytes, its nonce included.
func digest(o object) string {
	data, err := json.Marshal(o)
	if err != nil {
		return "" // unreachable: every API object has a JSON form
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
