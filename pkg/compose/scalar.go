package compose

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
)

// The API server and kubectl read YAML 1.1 as go-yaml v2 resolves it. The node parser beneath
// follows YAML 1.2 more closely, so plain scalars are resolved here by the older rules.

// yaml11Words are the plain scalars that are not strings whatever their form.
var yaml11Words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
	"true": true, "True": true, "TRUE": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false,
	"false": false, "False": false, "FALSE": false, "off": false, "Off": false, "OFF": false,
	".nan": math.NaN(), ".NaN": math.NaN(), ".NAN": math.NaN(),
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1),
	"+.inf": math.Inf(1), "+.Inf": math.Inf(1), "+.INF": math.Inf(1),
	"-.inf": math.Inf(-1), "-.Inf": math.Inf(-1), "-.INF": math.Inf(-1),
}

// yaml11Float is what YAML 1.1 calls a float, once digit separators are gone.
var yaml11Float = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// scalarValue returns the value of a scalar node: nil, bool, int64, uint64, float64, json.Number or string.
func scalarValue(n *yaml.Node) (any, error) {
	if n.Tag == jsonNumberTag {
		return json.Number(n.Value), nil
	}
	tag := explicitTag(n)
	if tag == "" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	switch tag {
	case "":
		return resolvePlain(n.Value), nil
	case "!!str":
		return n.Value, nil
	case "!!binary":
		b, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, errors.New("!!binary holds no valid base64")
		}
		return string(b), nil
	case "!!null", "!!bool", "!!int", "!!float", "!!timestamp":
		return resolveTagged(tag, n.Value)
	}
	return n.Value, nil // a tag that go-yaml does not know makes a string
}

// explicitTag returns the tag written on a scalar, "" where there is none.
func explicitTag(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle == 0 {
		return ""
	}
	return n.ShortTag()
}

func resolveTagged(tag, text string) (any, error) {
	v := resolvePlain(text)
	ok := false
	switch v := v.(type) {
	case nil:
		ok = tag == "!!null"
	case bool:
		ok = tag == "!!bool"
	case int64:
		if tag == "!!float" {
			return float64(v), nil
		}
		ok = tag == "!!int"
	case uint64:
		ok = tag == "!!int"
	case float64:
		ok = tag == "!!float"
	case string:
		ok = tag == "!!timestamp" && isTimestamp(v)
	}
	if !ok {
		return nil, fmt.Errorf("%q cannot be read as %s", text, tag)
	}
	return v, nil
}

// resolvePlain gives a plain scalar the type that YAML 1.1 gives it.
func resolvePlain(s string) any {
	if v, ok := yaml11Words[s]; ok {
		return v
	}
	switch c := s[0]; {
	case c == '.':
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	case c >= '0' && c <= '9', c == '-', c == '+':
		return resolveNumber(s)
	}
	return s
}

func resolveNumber(s string) any {
	if isTimestamp(s) {
		return s
	}
	plain := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return u
	}
	if yaml11Float().MatchString(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return f
		}
	}
	if digits, ok := strings.CutPrefix(plain, "0b"); ok { // go-yaml takes a sign after 0b
		if i, err := strconv.ParseInt(digits, 2, 64); err == nil {
			return i
		}
	}
	return s
}

// timestampFormats are the forms of a YAML 1.1 timestamp that go-yaml knows. A timestamp is read as
// a string, but keeps digits and dashes from being read as a number.
var timestampFormats = [...]string{
	"2006-1-2T15:4:5.999999999Z07:00",
	"2006-1-2t15:4:5.999999999Z07:00",
	"2006-1-2 15:4:5.999999999",
	"2006-1-2",
}

func isTimestamp(s string) bool {
	if len(s) < 8 || s[4] != '-' {
		return false
	}
	for _, f := range timestampFormats {
		if _, err := time.Parse(f, s); err == nil {
			return true
		}
	}
	return false
}

// keyString returns the JSON object key that a mapping key becomes.
func keyString(n *yaml.Node) (string, error) {
	n = resolveAlias(n)
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("%s cannot be a key", describe(n))
	}
	v, err := scalarValue(n)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return floatKey(v), nil
	}
	return "", fmt.Errorf("%s cannot be a key", describe(n))
}

// floatKey writes a float as sigs.k8s.io/yaml does for a key.
func floatKey(f float64) string {
	switch s := strconv.FormatFloat(f, 'g', -1, 32); s {
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	case "NaN":
		return ".nan"
	default:
		return s
	}
}
