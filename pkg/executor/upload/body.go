package upload

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// stream is the body, which follows the conversation and is packed as that has announced. The connection reads it where it is.
func (e *exchange) stream(end context.CancelCauseFunc) io.Reader {
	return &lateReader{open: func() io.Reader {
		switch {
		case e.body == nil:
			return bytes.NewReader(nil)
		case !e.judge:
			return bytes.NewReader(e.body.Content.packed[e.packing]())
		}
		return &judgedBody{data: e.body.Content.data, slow: func() bool {
			if !e.body.Content.shrinks(gzipped) {
				return false
			}
			end(errSlow)
			return true
		}}
	}}
}

// lateReader is a reader that is known only when it is first read.
type lateReader struct {
	open func() io.Reader
	io.Reader
}

// Read reads the next bytes.
func (r *lateReader) Read(into []byte) (int, error) {
	if r.Reader == nil {
		r.Reader = r.open()
	}
	return r.Reader.Read(into)
}

// errSlow ends an upload that goes on faster compressed.
var errSlow = errors.New("the link is slow")

// A link that has taken less than slow bytes a second after a while is slower than an image's gzip.
const (
	slow  = 32 << 20
	while = 300 * time.Millisecond
)

// judgedBody are bytes as they are. On a link that shows to be slow while most is still to be sent, it ends where slow says so.
type judgedBody struct {
	data  []byte
	slow  func() bool
	at    int
	began time.Time
	told  bool
}

// Read reads the next bytes.
func (p *judgedBody) Read(into []byte) (int, error) {
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
