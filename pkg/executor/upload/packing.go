package upload

import (
	"bytes"
	"compress/gzip"
	"errors"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// packing is how the bytes of a body go over the link. It is the word of the conversation that announces them and, unless they
// go as they are, the tool that undoes it in the image.
type packing string

const (
	asIs    packing = "body"
	gzipped packing = "gzip"
	lzopped packing = "lzop"
)

// choose takes the image's offer, a tool or nothing, for a body whose packing is not decided yet. lzop is faster than any link,
// gzip only than a slow one.
func (e *exchange) choose(offer packing) {
	e.judge = false
	switch {
	case e.body == nil || e.packing != "":
	case offer == lzopped && e.body.Content.shrinks(lzopped):
		e.packing = lzopped
	default:
		e.packing, e.judge = asIs, offer == gzipped
	}
}

// instead is how to send a body again after an error, if that may help: a slow link, or a tool that does not do what its name
// says.
func (e *exchange) instead(err error) (packing, bool) {
	if errors.Is(err, errSlow) {
		return gzipped, true
	}
	rejected, ok := errors.AsType[*RejectedError](err)
	spoilt := ok && (rejected.Code == bootstrap.ExitSize || rejected.Code == bootstrap.ExitDigest)
	return asIs, spoilt && e.packing == lzopped
}

// shrinks reports whether a packing saves enough for the image to undo it.
func (b *Blob) shrinks(p packing) bool {
	plain := len(b.data)
	return len(b.packed[p]()) < plain-plain/10
}

// zip compresses fast: a session waits for it.
func zip(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, err = w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return bytes.Clone(b.Bytes()) // without the room that the buffer grew to
}
