package upload

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// packs reports whether the body goes through gzip: that must save enough for the image to undo it.
func (e *exchange) packs() bool {
	plain := len(e.body.Content.data)
	return e.compressed && len(e.body.Content.packed()) < plain-plain/10
}

// stream is the body, which follows the conversation. The connection reads it where it is.
func (e *exchange) stream(answers *answers, end context.CancelCauseFunc) io.Reader {
	switch {
	case e.body == nil:
		return bytes.NewReader(nil)
	case e.packs():
		return bytes.NewReader(e.body.Content.packed())
	case !e.judge:
		return bytes.NewReader(e.body.Content.data)
	}
	p := &plainBody{data: e.body.Content.data}
	p.slow = func() bool {
		if answers.first() != greeting+offersGzip {
			return false
		}
		end(errSlow)
		return true
	}
	return p
}

// errSlow ends an upload that goes on faster compressed.
var errSlow = errors.New("the link is slow")

// A link that has taken less than slow bytes a second after a while is slower than an image's gzip.
const (
	slow  = 32 << 20
	while = 300 * time.Millisecond
)

// plainBody are bytes as they are. On a link that shows to be slow while most is still to be sent, it ends where slow says so.
type plainBody struct {
	data  []byte
	slow  func() bool
	at    int
	began time.Time
	told  bool
}

// Read reads the next bytes.
func (p *plainBody) Read(into []byte) (int, error) {
	if p.at == len(p.data) {
		return 0, io.EOF
	}
	if p.began.IsZero() {
		p.began = time.Now()
	}
	if took := time.Since(p.began); !p.told && took > while {
		p.told = true
		if rate := float64(p.at) / took.Seconds(); rate < slow && p.at < len(p.data)/2 && p.slow() {
			return 0, errSlow
		}
	}
	n := copy(into, p.data[p.at:])
	p.at += n
	return n, nil
}
