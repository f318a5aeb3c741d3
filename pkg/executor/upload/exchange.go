package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// exchange is one conversation with the script.
type exchange struct {
	port    int32
	whole   bool // every file of the upload is in it
	before  func(context.Context) ([]File, error)
	remove  []string
	texts   []File
	last    File
	body    *File
	packing packing // of the body; empty until the image's offer decides
	judge   bool    // a slow link ends the exchange, where the body would then go faster
}

// files is how many files the receipt must count.
func (e *exchange) files() int {
	n := len(e.texts)
	if e.body != nil {
		n++
	}
	if e.last.Path != "" {
		n++
	}
	return n
}

// run holds the conversation. A receipt is a receipt: what the exec says afterwards is not waited for.
func (e *exchange) run(ctx context.Context, run Exec, root string) error {
	token := newToken()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := &answers{heard: make(chan struct{}), receipt: []byte("receipt " + token + " "), received: func() { cancel(errEnded) }}
	var complaint tail
	conversation, to := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		err := e.write(ctx, to, token, answers)
		_ = to.CloseWithError(err) // nil is the end of the input
		if err != nil && !errors.Is(err, errEnded) {
			cancel(err)
		}
	}()
	command := []string{"/bin/sh", "-c", script, "kandev-receive", ""}
	if e.port != 0 {
		command[4] = fmt.Sprintf("%04X", e.port)
	}
	if root != "" {
		command = append(command, root)
	}
	err := run(ctx, command, io.MultiReader(conversation, e.stream(cancel)), answers, &complaint)
	cancel(errEnded)
	_ = conversation.CloseWithError(errEnded)
	answers.end()
	<-written
	if strings.HasSuffix(answers.String(), fmt.Sprintf("receipt %s %d\n", token, e.files())) {
		return nil
	}
	if code, ok := errors.AsType[exitCoder](err); ok {
		return &RejectedError{Code: code.ExitStatus(), Message: complaint.sentence()}
	}
	switch cause := context.Cause(ctx); {
	case !errors.Is(cause, errEnded):
		return cause
	case err != nil && !errors.Is(err, errEnded):
		return fmt.Errorf("upload: %w", err)
	case !strings.HasPrefix(answers.first(), greeting):
		return ErrIncompatible
	}
	return fmt.Errorf("upload: %w", ErrNoReceipt)
}

// errEnded ends a writer whose reader is gone.
var errEnded = errors.New("the exec has ended")

// greeting is the script's. A space and the tool that undoes a packing follow where the image has one.
const greeting = "kandev-receive 1"

// write sends everything but the body once the script has greeted.
func (e *exchange) write(ctx context.Context, to io.Writer, token string, answers *answers) error {
	select {
	case <-answers.heard:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	offer, ok := strings.CutPrefix(answers.first(), greeting)
	if !ok || !slices.Contains([]string{"", " " + string(gzipped), " " + string(lzopped)}, offer) {
		return ErrIncompatible
	}
	e.choose(packing(strings.TrimSpace(offer)))
	if e.before != nil {
		files, err := e.before(ctx)
		if err == nil {
			err = (&Request{Files: files}).Validate()
		}
		if err != nil {
			return err
		}
		e.texts = append(slices.Clone(e.texts), files...)
	}
	var head bytes.Buffer
	fmt.Fprintln(&head, token)
	for _, p := range e.remove {
		fmt.Fprintln(&head, "remove", p)
	}
	for i := range e.texts {
		writeText(&head, "text", &e.texts[i])
	}
	if e.last.Path != "" {
		writeText(&head, "last", &e.last)
	}
	if e.whole {
		fmt.Fprintln(&head, "wake", bootstrap.WakeVerified)
	}
	if e.body == nil {
		fmt.Fprintln(&head, "end")
	} else {
		writeHeader(&head, string(e.packing), e.body)
	}
	_, err := head.WriteTo(to)
	return err
}

func writeHeader(b *bytes.Buffer, word string, f *File) {
	fmt.Fprintf(b, "%s %04o %s %d %s\n", word, f.Mode, f.Content.sums(), f.Content.Size(), f.Path)
}

// writeText writes a file into the conversation, in lines that every shell reads.
func writeText(b *bytes.Buffer, word string, f *File) {
	const lineBytes = 512
	writeHeader(b, word, f)
	for data := f.Content.data; len(data) > 0; {
		n := min(lineBytes, len(data))
		b.WriteByte('+')
		for _, c := range data[:n] {
			if plain(c) {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(b, `\0%03o`, c)
			}
		}
		b.WriteByte('\n')
		data = data[n:]
	}
	b.WriteString(".\n")
}

// plain reports whether a byte stands for itself in a line and in an argument of printf's %b.
func plain(c byte) bool { return ' ' <= c && c < 0x7f && c != '\\' }

// answers is what the script says on its standard output: a greeting, later a receipt.
type answers struct {
	mu    sync.Mutex
	text  bytes.Buffer
	once  sync.Once
	heard chan struct{} // closed when the first line is whole, or nothing more comes

	receipt  []byte // how it begins
	received func() // is told of a whole one
}

// maxAnswers is far more than the script says.
const maxAnswers = 4 << 10

// Write takes what was said.
func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.text.Len() < maxAnswers {
		a.text.Write(p)
	}
	text := a.text.Bytes()
	if bytes.IndexByte(text, '\n') >= 0 || len(text) >= maxAnswers {
		a.once.Do(func() { close(a.heard) })
	}
	if n := bytes.Index(text, a.receipt); n >= 0 && bytes.IndexByte(text[n:], '\n') >= 0 {
		a.received()
	}
	return len(p), nil
}

func (a *answers) end() { a.once.Do(func() { close(a.heard) }) }

func (a *answers) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.String()
}

func (a *answers) first() string {
	line, _, _ := strings.Cut(a.String(), "\n")
	return line
}

// tail is what the script says on its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write takes what was said, and keeps the end.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxAnswers; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

// sentence is the last line without the script's name.
func (t *tail) sentence() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	text = text[strings.LastIndexByte(text, '\n')+1:]
	return strings.TrimPrefix(text, "kandev-receive: ")
}
