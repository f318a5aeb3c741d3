package executor

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// DefaultRequestTimeout bounds one request where the configuration says nothing. The API server gives up by itself after
// 34 seconds (k8s.io/apiserver pkg/server/config.go), so that a request which it has taken ends with its word and not
// with ours.
const DefaultRequestTimeout = 40 * time.Second

// unlimited is the QPS that turns client-go's own rate limit off. Its default, 5 requests a second, delays a few
// sessions by minutes and says so to nobody; the API server's priority and fairness queues protect it better.
const unlimited = -1

// userAgent names the package in the API server's audit log where the configuration names nobody.
const userAgent = "kandev-executor"

// Client speaks to one API server. It is safe for concurrent use.
type Client struct {
	config  *rest.Config // for streams, which bring connections of their own
	rest    rest.Interface
	timeout time.Duration
}

// NewClient returns a client with the credentials and the proxy of a configuration, which is not changed. A timeout in
// it bounds each request and the opening of each stream, and no watch or stream; a QPS in it is kept.
//
// It knows the types of core/v1 and the reviews of access alone, and is no typed clientset: what those bring along costs
// each start of a program up to five milliseconds and the binary up to seventeen megabytes.
func NewClient(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	timeout := cmp.Or(config.Timeout, DefaultRequestTimeout)
	config.Timeout = 0 // it would end watches too
	config.APIPath = "/api"
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = codecs().WithoutConversion()
	// Strict field validation works on JSON alone: protobuf drops what the server does not know.
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.WarningHandler, config.WarningHandlerWithContext = nil, contextWarnings{}
	config.UserAgent = cmp.Or(config.UserAgent, userAgent)
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS = unlimited
	}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, &Error{Reason: Unconfigured, Message: err.Error(), cause: err}
	}
	return &Client{config: config, rest: client, timeout: timeout}, nil
}

// Host returns the API server's address as it is configured.
func (c *Client) Host() string { return c.config.Host }

// scheme holds the types that are sent and received.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, authorizationv1.AddToScheme, authenticationv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // two types under one name: a fault of this program
		}
	}
	return s
})

var (
	codecs     = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(scheme()) })
	parameters = sync.OnceValue(func() runtime.ParameterCodec { return runtime.NewParameterCodec(scheme()) })
)

// errRequestTimeout is the cause of a context that ended with a request's own bound.
var errRequestTimeout = errors.New("no answer within the request timeout")

// bounded returns a context for one request.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout, errRequestTimeout)
}

// contextWarnings hands the warnings of a response to whoever waits for them in the request's context; the others are
// dropped, not logged.
type contextWarnings struct{}

type warningsKey struct{}

// withWarnings returns a context whose requests leave their warnings in the list.
func withWarnings(ctx context.Context, list *[]string) context.Context {
	return context.WithValue(ctx, warningsKey{}, list)
}

// HandleWarningHeaderWithContext takes one Warning header; only code 299 is in use (RFC 7234, section 5.5).
func (contextWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const persistent = 299
	if list, ok := ctx.Value(warningsKey{}).(*[]string); ok && code == persistent && text != "" {
		*list = append(*list, text)
	}
}
