# Every target is one or two plain commands; make prints them. Tools are pinned in tools/go.mod, which
# the product's go.mod never sees.
TOOL     = go tool -modfile=tools/go.mod
FUZZTIME = 1m
COUNT    = 6
COVERED  = github.com/kandev/kandev-podlint/pkg/...,github.com/kandev/kandev-podlint/policy/...

# go turns cgo off by itself where there is no C compiler, and the race detector needs one.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

.PHONY: all test test-versions acceptance lint format build bench fuzz cover generate snapshot clean cluster-up cluster-down

all: build lint test

# The product, then the test modules, which have dependencies that the product must not have. Their first run
# builds Kubernetes.
test:
	go test $(RACE) -timeout 30m ./...
	@for m in $(wildcard test/*/go.mod); do \
		d=$$(dirname $$m); \
		echo "go -C $$d test $(RACE) -timeout 60m ./..."; \
		go -C $$d test $(RACE) -timeout 60m ./... || exit; \
	done

# The tests of API servers, on every version instead of the oldest and the newest.
test-versions:
	KANDEV_CLUSTER_VERSIONS="$(notdir $(wildcard test/cluster/versions/1.*))" go -C test/cluster test -timeout 90m ./...
	KANDEV_CLUSTER_VERSIONS="$(notdir $(wildcard test/cluster/versions/1.*))" go -C test/admission test -timeout 60m -v ./...

# What docs/evidence/docker-workloads.md says, on a real node, as root: builds an image of two gigabytes first, for ten minutes.
acceptance:
	go -C test/docker test -timeout 90m -v . -acceptance

lint:
	go vet ./...
	$(TOOL) golangci-lint run
	@for m in $(wildcard test/*/go.mod); do \
		d=$$(dirname $$m); \
		echo "cd $$d && golangci-lint run"; \
		(cd $$d && go tool -modfile=../../tools/go.mod golangci-lint run) || exit; \
	done

format:
	$(TOOL) gofumpt -w .

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/ ./cmd/kandev-podlint

# Compare two runs with: go tool -modfile=tools/go.mod benchstat OLD NEW
bench:
	go test -run '^$$' -bench . -benchmem -count $(COUNT) ./...

# Every fuzz target for FUZZTIME each; a crasher stays in the package's testdata/fuzz.
fuzz:
	@for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "go test -run '^$$' -fuzz '^$$f$$' -fuzztime $(FUZZTIME) $$p"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit; \
		done; \
	done

# The statements of pkg and policy that tests run, those of sessions and probes on a real node among them, as root.
cover:
	go test -timeout 30m -coverprofile coverage.out -coverpkg $(COVERED) ./...
	@for m in session live; do \
		echo "go -C test/$$m test -timeout 60m -coverprofile ../../coverage.$$m -coverpkg $(COVERED) ."; \
		go -C test/$$m test -timeout 60m -coverprofile ../../coverage.$$m -coverpkg $(COVERED) . || exit; \
		tail -n +2 coverage.$$m >>coverage.out; \
		rm coverage.$$m; \
	done
	go tool cover -func coverage.out | tail -n 1

# The pages come from the catalogue, so the catalogue comes first.
generate:
	go generate ./policy
	go generate ./...

snapshot:
	$(TOOL) goreleaser check
	$(TOOL) goreleaser build --snapshot --clean

# A cluster to try things on; with VERSION=1.34 another version, with NODE=1 a node, as root.
cluster-up:
	go -C test/cluster run ./cmd/cluster up $(if $(VERSION),-version $(VERSION)) $(if $(NODE),-node)

cluster-down:
	go -C test/cluster run ./cmd/cluster down

clean:
	rm -rf bin dist coverage.out
