// Package upload puts a session's files into the owned volumes of its Pod, through pods/exec.
//
// A nil error from exec proves nothing, nor does an exit status of 0: a stream that was cut looks to the command in the Pod
// like the end of its input. So every file states its length and SHA-256, is written beside its place, verified there by the
// script (receive.sh) and only then renamed, and the script acknowledges the whole with a receipt that repeats a random token
// of this request. Contents go through standard input alone, never through an argument or a variable.
//
// Most uploads are one exec: small files are written into the script's own conversation, and the largest, the agent, is the
// rest of the stream. Each further large file is an exec of its own. Where the image has lzop, as those with busybox do, a large
// file goes compressed, for that is undone faster than any link. An image's gzip takes longer than a fast link: there the bytes go
// as they are, and where the link shows to be slow the exec is begun again with compressed ones.
package upload

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor/upload/lzop"
)

// Exec runs a command in the main container, as pods/exec does. Streams that are cut may make it return nil.
type Exec func(ctx context.Context, command []string, stdin io.Reader, stdout, stderr io.Writer) error

// Blob is the content of a file. One Blob may be uploaded many times, also at once: what is costly is done once.
type Blob struct {
	data   []byte
	sum    [sha256.Size]byte
	sums   func() string // as the script reads them
	packed map[packing]func() []byte
}

// NewBlob returns a blob of the bytes, which must not be changed afterwards.
func NewBlob(data []byte) *Blob {
	sum := sha256.Sum256(data)
	return &Blob{
		data: data,
		sum:  sum,
		sums: sync.OnceValue(func() string { return sumsOf(data, sum) }),
		packed: map[packing]func() []byte{
			asIs:    func() []byte { return data },
			gzipped: sync.OnceValue(func() []byte { return zip(data) }),
			lzopped: sync.OnceValue(func() []byte { return lzop.Compress(data) }),
		},
	}
}

// halvedBytes is the least size of which the script also knows the sums of the halves; halfBlock, what the first one has a
// multiple of.
const (
	halvedBytes = 4 << 20
	halfBlock   = 64 << 10
)

func sumsOf(data []byte, sum [sha256.Size]byte) string {
	if len(data) < halvedBytes {
		return hex.EncodeToString(sum[:])
	}
	half := len(data) / (2 * halfBlock) * halfBlock
	return fmt.Sprintf("%x,%x,%x", sum, sha256.Sum256(data[:half]), sha256.Sum256(data[half:]))
}

// Size returns the length in bytes.
func (b *Blob) Size() int64 { return int64(len(b.data)) }

// SHA256 returns the digest of the bytes.
func (b *Blob) SHA256() [sha256.Size]byte { return b.sum }

// File is one file of an upload.
type File struct {
	Path    string      // absolute, in the runtime or auth volume
	Mode    fs.FileMode // permission bits
	Content *Blob
}

// Request is one upload.
type Request struct {
	// Remove is taken away first; it need not be there.
	Remove []string
	Files  []File
	// Last, where it has a path, is put in place after every other file, and the bootstrap script is woken; it is told where all
	// the files have just been verified. It must be small.
	Last File
	// Port, if set, is one of the Pod's: the script answers once something listens on it at 127.0.0.1, or after some seconds.
	Port int32
	// Before, if set, is called once the script has answered and before anything is sent to it: the last moment to make sure
	// that it answered from the right Pod, and to add small files that were not known before. Its error ends the upload.
	Before func(context.Context) ([]File, error)
}

// RejectedError says that the script in the Pod ended without taking the upload.
type RejectedError struct {
	Code    int    // package bootstrap's exit statuses, or a shell's
	Message string // the script's own words: paths and sizes, never contents
}

// Error is the script's message.
func (e *RejectedError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("the upload ended with status %d", e.Code)
	}
	return e.Message
}

// ErrNoReceipt says that the exec ended as if all were well, without the receipt that proves it.
var ErrNoReceipt = errors.New("the stream ended without the receipt of the upload")

// ErrIncompatible says that what answered is not the receiving script.
var ErrIncompatible = errors.New("the answer is not that of the receiving script")

// exitCoder is an error that knows a command's exit status.
type exitCoder interface {
	error
	ExitStatus() int
}

// Send uploads the files. It is idempotent: after an error it may be repeated whole. The error is a *RejectedError, wraps
// ErrNoReceipt or ErrIncompatible, or is the Exec's own.
func Send(ctx context.Context, run Exec, r Request) error { return send(ctx, run, r, "") }

// send is Send with a prefix to every path in the Pod, for tests.
func send(ctx context.Context, run Exec, r Request, root string) error {
	if err := r.Validate(); err != nil {
		return err
	}
	for _, e := range r.exchanges() {
		err := e.run(ctx, run, root)
		if other, may := e.instead(err); may {
			e.packing = other
			err = e.run(ctx, run, root)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exchanges are the conversations that make the upload: one for each file that is a stream of its own, and at least one.
func (r *Request) exchanges() []exchange {
	small, large := r.split()
	all := make([]exchange, max(1, len(large)))
	for i := range large {
		all[i].body = &large[i]
	}
	for i := range all {
		all[i].before = r.Before
	}
	first, last := &all[0], &all[len(all)-1]
	first.port, first.remove, first.texts = r.Port, r.Remove, small
	last.last, last.whole = r.Last, len(all) == 1 && len(r.Files) > 0
	return all
}

// inlineBytes is the largest file that is written into the conversation: a shell reads it a byte at a time.
const inlineBytes = 16 << 10

// split tells the files that are written into the conversation from those that are streams of their own.
func (r *Request) split() (small, large []File) {
	for _, f := range r.Files {
		if f.Content.Size() <= inlineBytes {
			small = append(small, f)
		} else {
			large = append(large, f)
		}
	}
	return small, large
}

// Validate refuses what the script would misread. Send begins with it.
func (r *Request) Validate() error {
	paths := slices.Clone(r.Remove)
	files := r.Files
	if r.Last.Path != "" {
		if files = append(slices.Clone(files), r.Last); r.Last.Content.Size() > inlineBytes {
			return fmt.Errorf("upload: %s has more than %d bytes, too many for the last file", r.Last.Path, inlineBytes)
		}
	}
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.Content == nil || f.Mode != f.Mode.Perm() {
			return fmt.Errorf("upload: %s has no content, or a mode of more than permission bits", f.Path)
		}
	}
	for _, p := range paths {
		unreadable := strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })
		if unreadable || strings.HasSuffix(p, " ") || path.Clean(p) != p || !owned(p) {
			return fmt.Errorf("upload: %q is not a plain path in the runtime or auth volume", p)
		}
	}
	return nil
}

// owned reports whether a path is in one of the volumes that uploads go to.
func owned(p string) bool {
	return strings.HasPrefix(p, path.Dir(bootstrap.AgentPath)+"/") || strings.HasPrefix(p, path.Dir(bootstrap.AuthEnvPath)+"/")
}

// newToken returns a random token of 32 hex digits.
func newToken() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

//go:embed receive.sh
var source string

// script is the source without its comments.
var script = bootstrap.StripComments(source)
