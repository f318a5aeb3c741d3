//go:build tools

// Package deps keeps requirements in go.mod while the packages that need them are being written.
package deps

import (
	_ "github.com/agnivade/levenshtein"
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/fatih/color"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/renameio/v2"
	_ "github.com/open-policy-agent/opa/v1/ast"
	_ "github.com/open-policy-agent/opa/v1/cover"
	_ "github.com/open-policy-agent/opa/v1/format"
	_ "github.com/open-policy-agent/opa/v1/loader"
	_ "github.com/open-policy-agent/opa/v1/rego"
	_ "github.com/open-policy-agent/opa/v1/tester"
	_ "github.com/owenrumney/go-sarif/v3/pkg/report"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/term"
	_ "golang.org/x/text/width"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/api/validation"
	_ "k8s.io/utils/ptr"
	_ "pgregory.net/rapid"
	_ "sigs.k8s.io/json"
	_ "sigs.k8s.io/yaml"
)
