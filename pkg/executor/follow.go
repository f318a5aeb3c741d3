package executor

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// pause lies between two tries of a request that failed.
const pause = time.Second

// errGone is the end of an object.
var errGone = errors.New("gone")

// follow calls see with every state of one object, the present one first, until see has seen enough or returns an error. When
// the object is gone, or another one has its name, the error is errGone. A watch that breaks is begun again; a GET that
// fails for want of a connection is repeated until the context ends, and then the error is the context's cause.
func follow[T object](ctx context.Context, c *Client, of place, uid types.UID, see func(T) (bool, error)) error {
	ctx = quiet(ctx)
	for {
		o, err := currently[T](ctx, c, of)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case reasonOf(err) == NotFound || err == nil && o.GetUID() != uid:
			return errGone
		case transient(err):
			wait(ctx, pause)
			continue
		case err != nil:
			return err
		}
		if done, err := see(o); done || err != nil {
			return err
		}
		err = watchFrom(ctx, c, of, o, see)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err):
			return err
		}
	}
}

// place is where an object is.
type place struct{ resource, namespace, name string }

// placeOf is where an object of a resource is.
func placeOf(resource string, o object) place { return place{resource, o.GetNamespace(), o.GetName()} }

func currently[T object](ctx context.Context, c *Client, of place) (T, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	answer, err := c.rest.Get().Namespace(of.namespace).Resource(of.resource).Name(of.name).Do(ctx).Get()
	o, _ := answer.(T)
	return o, classify(err)
}

// watchFrom calls see with every state after one.
func watchFrom[T object](ctx context.Context, c *Client, of place, from T, see func(T) (bool, error)) error {
	watcher := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, of.name).String()
		o.Watch = true
		return c.watch(ctx, of, o)
	}}
	_, err := watchtools.Until(ctx, from.GetResourceVersion(), watcher, func(e watch.Event) (bool, error) {
		o, ok := e.Object.(T)
		switch {
		case e.Type == watch.Error:
			return false, apierrors.FromObject(e.Object)
		case e.Type == watch.Deleted || ok && o.GetUID() != from.GetUID():
			return false, errGone
		case !ok:
			return false, nil
		}
		return see(o)
	})
	return err
}

// watch opens a watch. The client's timeout bounds the opening, and not the watch: what is swallowed on the way would be waited
// for as long as for an event.
func (c *Client) watch(ctx context.Context, of place, o metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancel(ctx)
	bound := time.AfterFunc(c.timeout, cancel)
	opened, err := c.rest.Get().Namespace(of.namespace).Resource(of.resource).VersionedParams(&o, parameters()).Watch(ctx)
	if bound.Stop() || err == nil {
		return opened, err
	}
	return nil, context.DeadlineExceeded // which client-go takes for what it is, and tries again
}

// transient reports whether an error may pass by itself.
func transient(err error) bool {
	switch reasonOf(err) {
	case Ambiguous, Unreachable, Throttled:
		return true
	}
	return false
}

// wait waits for a time, or for the end of the context.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lastWarning returns the newest warning event about an object, "" where there is none or it cannot be had.
func (c *Client) lastWarning(ctx context.Context, namespace string, uid types.UID) string {
	warnings := c.events(ctx, namespace, uid, corev1.EventTypeWarning)
	if len(warnings) == 0 {
		return ""
	}
	newest := slices.MaxFunc(warnings, func(a, b corev1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
	return newest.Reason + ": " + newest.Message
}

// events returns the events of a type about an object, none where they cannot be had.
func (c *Client) events(ctx context.Context, namespace string, uid types.UID, eventType string) []corev1.Event {
	answer, err := c.list(ctx, eventResource, namespace, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.uid": string(uid), "type": eventType}.String(),
	})
	list, ok := answer.(*corev1.EventList)
	if err != nil || !ok {
		return nil
	}
	return list.Items
}

// eventTime is when an event was last seen; each of its sources fills another field.
func eventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}
