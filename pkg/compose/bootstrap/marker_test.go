package bootstrap

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testMarker(extra ...string) Marker {
	var m Marker
	for i, name := range append([]string{PreparePath, AuthEnvPath, RuntimeEnvPath, AgentPath}, extra...) {
		m.Files = append(m.Files, File{Path: name, Size: int64(i), SHA256: sha256.Sum256([]byte(name))})
	}
	return m
}

func TestMarker(t *testing.T) {
	text, err := testMarker("/run/kandev/a b/ü").Encode()
	must(t, err)
	const want = `kandev-start 1
6777c69b 3 /opt/kandev/agentctl
6777c69b 2 /opt/kandev/runtime.env
6777c69b 1 /run/kandev/auth.env
6777c69b 0 /opt/kandev/prepare.sh
6777c69b 4 /run/kandev/a b/ü
end
`
	var short []string
	for line := range strings.Lines(string(text)) {
		if len(line) > 64 {
			line = "6777c69b" + line[64:]
		}
		short = append(short, line)
	}
	if diff := cmp.Diff(want, strings.Join(short, "")); diff != "" {
		t.Error(diff)
	}
	back, err := ParseMarker(text)
	must(t, err)
	again, err := back.Encode()
	must(t, err)
	if !bytes.Equal(text, again) || len(back.Files) != 5 {
		t.Errorf("%s\nparsed and written is\n%s", text, again)
	}
}

func TestMarkerRefuses(t *testing.T) {
	cases := map[string]Marker{
		"/opt/kandev/agentctl is not":    {},
		"/run/kandev/auth.env is not":    {Files: testMarker().Files[2:]},
		"prepare.sh is not listed":       testMarker(PreparePath),
		"agentctl is not listed":         testMarker(AgentPath),
		"negative":                       {Files: append(testMarker().Files, File{Path: "/opt/kandev/x", Size: -1})},
		"outside":                        testMarker("/etc/passwd"),
		`"/opt/kandev" is outside`:       testMarker("/opt/kandev"),
		`"/workspace/x" is outside`:      testMarker("/workspace/x"),
		`"/opt/kandev/../x"`:             testMarker("/opt/kandev/../x"),
		`"/opt/kandev//x"`:               testMarker("/opt/kandev//x"),
		`"opt/kandev/x" is outside`:      testMarker("opt/kandev/x"),
		`"/opt/kandev/a\nb"`:             testMarker("/opt/kandev/a\nb"),
		`"/opt/kandev/a " has`:           testMarker("/opt/kandev/a "),
		`"/run/kandev/home/x" is in`:     testMarker(HomePath + "/x"),
		`"/run/kandev/home" is in`:       testMarker(HomePath),
		`"/opt/kandev/x/" is not in its`: testMarker("/opt/kandev/x/"),
	}
	for want, m := range cases {
		if text, err := m.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in the error, got %v and %q", want, err, text)
		}
	}
}

func TestParseMarkerRefuses(t *testing.T) {
	whole, err := testMarker().Encode()
	must(t, err)
	sum := strings.Repeat("0", 64)
	edit := func(from, to string) string { return strings.Replace(string(whole), from, to, 1) }
	cases := map[string]string{
		"empty":            "",
		"newline":          "\n",
		"header only":      "kandev-start 1\n",
		"no files":         "kandev-start 1\nend\n",
		"other version":    edit("start 1", "start 2"),
		"cut off":          strings.TrimSuffix(string(whole), "end\n"),
		"cut in the end":   strings.TrimSuffix(string(whole), "\n"),
		"more":             string(whole) + "end\n",
		"CRLF":             strings.ReplaceAll(string(whole), "\n", "\r\n"),
		"upper case":       strings.ToUpper(string(whole)),
		"two fields":       edit("\nend", "\n"+sum+" 5\nend"),
		"short digest":     edit("\nend", "\n00 5 /opt/kandev/x\nend"),
		"digest not hex":   edit("\nend", "\n"+strings.Repeat("x", 64)+" 5 /opt/kandev/x\nend"),
		"size not decimal": edit("\nend", "\n"+sum+" 0x5 /opt/kandev/x\nend"),
		"size with zeros":  edit("\nend", "\n"+sum+" 05 /opt/kandev/x\nend"),
		"size with sign":   edit("\nend", "\n"+sum+" +5 /opt/kandev/x\nend"),
		"order":            edit("\nend", "\n"+sum+" 5 /opt/kandev/a\nend"),
	}
	for name, text := range cases {
		if m, err := ParseMarker([]byte(text)); err == nil {
			t.Errorf("%s: accepted as %v", name, m)
		}
	}
}

func FuzzParseMarker(f *testing.F) {
	whole, err := testMarker("/opt/kandev/lib/x").Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte("kandev-start 1\nend\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseMarker(text)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil || !bytes.Equal(text, again) {
			t.Errorf("%q is accepted but written as %q, %v", text, again, err)
		}
	})
}
