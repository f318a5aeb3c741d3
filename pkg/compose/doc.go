// Package compose turns an administrator's Pod template into the objects of one agent session.
//
// The way through the package is the way of the data: a file is read as one Document (document.go) whose
// every part has a place (place.go, locate.go); the Document is decoded strictly as a Template
// (template.go, types.go); the Template is held against the rules (validate.go and the files that it
// calls: pod.go, containers.go, grant.go, and package podrules for what the API server would refuse);
// what breaks none becomes a Pod and perhaps a claim (compose.go). A Snapshot (snapshot.go) keeps all that is
// needed to do so again.
//
// Names and values that Kandev fixes stand in names.go; the catalogue of rules in rules_*.go.
package compose
