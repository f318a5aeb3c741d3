// Package docstest holds the tests of the documentation; it exports nothing.
//
// In README.md, CONTRIBUTING.md and docs/*.md:
//
//   - A line "$ kandev-podlint ARGUMENTS", or "$ go run ./cmd/kandev-podlint ARGUMENTS", in a console block is run at the root of the
//     repository. What follows, up to the next such line, is what the command prints on both streams, byte for byte. An exit
//     status other than 0 is stated by a last line "# exit N". A line of three dots stands for any lines left out.
//     There is no shell: pipes and redirections belong in sh blocks, which are not run.
//   - A block "```console cluster" is run likewise, by test/live, against a real cluster.
//   - A block "```yaml FILE" shows the whole of a file of the repository.
//   - A block "```yaml .kandev-podlint.yaml" is an example configuration: it loads and meets the schema.
//   - A link to a file of the repository leads to a file that is there, and its anchor to a heading.
//
// The pages of docs/rules, the diagram in docs/architecture.md, the picture of the states in docs/sessions.md, the lists of rules in docs/schema/config.schema.json and the objects
// that the examples of diff compare are made from the code.
//
// go test ./internal/docstest -update rewrites all of this.
package docstest

//go:generate go test . -update
