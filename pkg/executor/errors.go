package executor

import "slices"

// Reason says what kind of failure an Error is. Its values are stable: JSON outputs hold them.
type Reason string

// What the API server found wrong with the object itself. Sent again unchanged, it is refused again until the cluster
// changes.
const (
	PodSecurity     Reason = "pod-security"           // the namespace's Pod Security level
	QuotaExceeded   Reason = "quota"                  // a ResourceQuota; Subject is its name
	LimitRange      Reason = "limit-range"            // a LimitRange of the namespace
	WebhookDenied   Reason = "webhook-denied"         // a webhook said no; Subject is its name
	PolicyDenied    Reason = "admission-policy"       // an admission policy said no; Subject is its name
	NoService       Reason = "service-account"        // the Pod's service account does not exist; Subject is its name
	NoRuntimeClass  Reason = "runtime-class"          // Subject is the class that does not exist
	NoPriorityClass Reason = "priority-class"         // Subject is the class that does not exist
	InvalidObject   Reason = "invalid"                // validation failed; Fields say where
	Denied          Reason = "admission-denied"       // another admission plugin said no
	Tampered        Reason = "admission-incompatible" // it was admitted with changes to what is Kandev's
)

// What keeps a request from being carried out, whatever the object.
const (
	Forbidden          Reason = "forbidden"           // RBAC, or another authorizer
	Unauthenticated    Reason = "unauthenticated"     // the credentials are missing, wrong or expired
	NoNamespace        Reason = "namespace-missing"   // Subject is its name
	NamespaceEnding    Reason = "namespace-ending"    // the namespace is being deleted
	NotFound           Reason = "not-found"           // the object does not exist
	AlreadyExists      Reason = "already-exists"      // an object of that name exists
	BeingDeleted       Reason = "being-deleted"       // an object of that name exists and is being deleted
	Conflict           Reason = "conflict"            // the object is not the one meant, or was changed meanwhile
	WebhookUnreachable Reason = "webhook-unreachable" // a webhook did not answer, and fails closed; Subject is its name
	Throttled          Reason = "throttled"           // the server has too much to do; nothing was done
	UnknownFields      Reason = "unknown-fields"      // the answer has fields that this version does not know
	ServerError        Reason = "server-error"        // another error of the server
	Unreachable        Reason = "unreachable"         // the request never reached the server
	Ambiguous          Reason = "ambiguous"           // timeout, reset, 5xx: whether it was carried out is unknown
	Unconfigured       Reason = "configuration"       // there is no usable configuration
)

// What keeps a Pod from running, or its streams from being of use.
const (
	Unschedulable   Reason = "unschedulable"     // no node takes the Pod
	ImagePull       Reason = "image-pull"        // the image cannot be had
	ContainerConfig Reason = "container-config"  // the container cannot be made: a missing Secret, a wrong user, ...
	Crashed         Reason = "crashed"           // the container ends by itself
	Evicted         Reason = "evicted"           // the node ended the Pod
	NotStarted      Reason = "not-started"       // not running in time, for no reason that is known
	ClaimPending    Reason = "claim-pending"     // the volume of a claim does not come
	Vanished        Reason = "vanished"          // the object was deleted by someone else
	StreamRefused   Reason = "stream-refused"    // the connection was not upgraded: something between cannot carry streams
	StreamBroken    Reason = "stream-broken"     // the stream was opened, and cut or altered
	MissingTools    Reason = "tools-missing"     // Subject lists the tools that the image lacks
	ExecFailed      Reason = "exec-failed"       // the node could not run the command
	NotWritable     Reason = "volume-not-usable" // Subject is the path that the container's user cannot use
	StillThere      Reason = "still-there"       // deleted, and not gone in time
	Interrupted     Reason = "interrupted"       // the caller's context ended
)

// What keeps a session from being used, replaced or cleaned up.
const (
	AgentFailed       Reason = "agent-failed"       // the agent does not answer as it should
	AgentRefused      Reason = "agent-refused"      // the agent has taken its bootstrap nonce already
	AgentUnproven     Reason = "agent-unproven"     // what answers on the control port has not shown to be the agent
	UploadFailed      Reason = "upload-failed"      // files did not arrive in the Pod
	PrepareFailed     Reason = "prepare-failed"     // the preparation script ended with a status other than 0
	Replaced          Reason = "replaced"           // an object of the name exists, and is another one
	IdentityMismatch  Reason = "identity-mismatch"  // the object of the recorded name is not the recorded one
	WorkspaceLost     Reason = "workspace-lost"     // what held the work is gone, and nothing may take its place
	PodLost           Reason = "pod-lost"           // the recorded Pod is gone
	Quarantined       Reason = "quarantined"        // an object bears the session's labels and is not known to be its own
	InventoryFailed   Reason = "inventory"          // the inventory could not be read or written
	InventoryConflict Reason = "inventory-conflict" // another process or call holds the instance
)

// Error is a failure of a known kind.
type Error struct {
	Reason  Reason
	Subject string       // the webhook, policy, quota, class, account or namespace that the server named, if any
	Message string       // the server's or the node's own words, or this package's where there are none
	Fields  []FieldError // for InvalidObject, everything that the server found
	cause   error
}

// FieldError is one fault that the API server's validation found.
type FieldError struct {
	Field   string `json:"field"` // spec.containers[0].image
	Message string `json:"message"`
}

// Error returns what happened in one sentence, with the other side's own words.
func (e *Error) Error() string {
	if lead := leads[e.Reason]; lead != "" {
		return lead + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the error from which this one was made, nil where there is none.
func (e *Error) Unwrap() error { return e.cause }

// Refusal reports whether the API server looked at the object and said no.
func (r Reason) Refusal() bool {
	return slices.Contains([]Reason{
		PodSecurity, QuotaExceeded, LimitRange, WebhookDenied, PolicyDenied, NoService, NoRuntimeClass, NoPriorityClass,
		InvalidObject, Denied, Tampered,
	}, r)
}

// ClusterTrouble reports whether the cluster did not answer, or answered with an error that says nothing about what
// was asked.
func (r Reason) ClusterTrouble() bool {
	return slices.Contains([]Reason{
		Unauthenticated, NoNamespace, NamespaceEnding, AlreadyExists, Conflict, WebhookUnreachable, Throttled, UnknownFields,
		ServerError, Unreachable, Ambiguous,
	}, r)
}

// leads say in our words what the other side's mean, where those alone may not.
var leads = map[Reason]string{
	PodSecurity:        "the namespace's Pod Security level refuses it",
	QuotaExceeded:      "a quota of the namespace refuses it",
	LimitRange:         "a limit range of the namespace refuses it",
	WebhookDenied:      "a webhook refuses it",
	PolicyDenied:       "an admission policy refuses it",
	NoService:          "its service account does not exist",
	NoRuntimeClass:     "its runtime class does not exist",
	NoPriorityClass:    "its priority class does not exist",
	InvalidObject:      "the API server's validation refuses it",
	Denied:             "admission refuses it",
	Tampered:           "admission changed what is Kandev's",
	Forbidden:          "a permission is missing",
	Unauthenticated:    "the API server does not accept the credentials",
	NoNamespace:        "the namespace does not exist",
	NamespaceEnding:    "the namespace is being deleted",
	BeingDeleted:       "an object of that name is being deleted",
	Conflict:           "the object is not the one that was meant",
	WebhookUnreachable: "a webhook did not answer",
	Throttled:          "the API server has too much to do",
	ServerError:        "the API server failed",
	Unreachable:        "the API server cannot be reached",
	Ambiguous:          "whether it was carried out is unknown",
	Unconfigured:       "the configuration cannot be used",
	Unschedulable:      "no node takes the Pod",
	ImagePull:          "the image cannot be pulled",
	ContainerConfig:    "the container cannot be created",
	Crashed:            "a container that the session needs ended",
	Evicted:            "the node ended the Pod",
	ClaimPending:       "the claim gets no volume",
	StreamRefused:      "something between here and the node cannot carry streams",
	StreamBroken:       "the stream broke",
}

// remedies say what to do about a reason.
var remedies = map[Reason]string{
	PodSecurity:        "change the template to meet the namespace's level, or ask for a namespace with another one",
	QuotaExceeded:      "request less, end other sessions, or have the quota raised",
	LimitRange:         "bring the template's resources within the limit range",
	WebhookDenied:      "change the template to what the webhook accepts, or have the namespace exempted from it",
	PolicyDenied:       "change the template to what the policy accepts, or have the namespace exempted from it",
	NoService:          "create the service account in the namespace, or correct serviceAccountName in the template",
	NoRuntimeClass:     "correct runtimeClassName in the template, or have the class created",
	NoPriorityClass:    "correct priorityClassName in the template, or have the class created",
	InvalidObject:      "correct the template; kandev-podlint lint shows the lines",
	Tampered:           "have the namespace exempted from the webhook or plugin that does this",
	Unauthenticated:    "renew the credentials, or choose another context of the kubeconfig",
	NoNamespace:        "create the namespace, or choose another one",
	NamespaceEnding:    "wait for its end, or choose another namespace",
	BeingDeleted:       "wait for its end; a finalizer or a Pod that uses it may hold it",
	WebhookUnreachable: "repair the webhook's service, or have the namespace exempted from it",
	Throttled:          "try again later",
	UnknownFields:      "update kandev-podlint: the cluster is newer",
	Unreachable:        "check the server's address, the network and the proxy settings",
	Ambiguous:          "try again; if it lasts, look at what stands between here and the API server",
	Unschedulable:      "compare the template's resources, nodeSelector, affinity and tolerations with the nodes",
	ImagePull:          "check the image's name and the pull secrets, and that the nodes reach the registry",
	ContainerConfig:    "correct what the message names: a Secret, ConfigMap, user or mount of the main container",
	Crashed:            "use an image with /bin/sh and the tools of the start script, for the profile's platform",
	ClaimPending:       "check the storage class and its provisioner",
	StreamRefused:      "let the proxy or load balancer pass WebSocket upgrades to the API server",
	StreamBroken:       "look for a proxy or load balancer with short timeouts between here and the API server",
	MissingTools:       "use an image that has these tools",
	NotWritable:        "set fsGroup in the template, and use a storage class whose volumes honour it",
	StillThere:         "look for a finalizer on it, or a node that does not answer",
}

// Remedy says what to do about the error, "" where nothing is known.
func (e *Error) Remedy() string { return remedies[e.Reason] }
