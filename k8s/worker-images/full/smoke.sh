#!/bin/sh
# Proves in a session that the tools of this image, its browser and the Docker engine beside it work together:
#
#   session exec ID -- smoke.sh
#
# It prints one JSON object, on which README.md has more, and ends with 0 where every check passed and nothing is left. It
# needs no network, takes 20 minutes at most, and works in a directory of its own below the current one, which has to be in
# the workspace: the engine sees nothing else of the agent's. What it makes bears its own name, and is what it removes.
set -eu

# What there is to check, with the seconds that each may take.
checks='go:300 golangci-lint:180 rust:120 node:30 pnpm:60 python:90 native:60 browser:90 image:120 binds:60 compose:90'

label=kandev.worker.smoke

fail() {
  printf 'smoke: %s\n' "$1" >&2
  exit 1
}

# expect GOT WANT
expect() { [ "$1" = "$2" ] || fail "got '$1', want '$2'"; }

go_module() {
  printf 'module example.com/smoke\n\ngo 1.24\n' >go.mod
  cat >main.go <<'END'
package main

import (
	"fmt"
	"os"
)

func answer() int { return 6 * 7 }

// In a container the program copies what it is given to where it may write, and must not write where it may only read.
func main() {
	if len(os.Args) < 2 {
		fmt.Println("answer", answer())
		return
	}
	text, err := os.ReadFile("/in/message")
	if err != nil {
		panic(err)
	}
	if os.WriteFile("/in/written", nil, 0o600) == nil {
		panic("the read-only bind was written to")
	}
	if err := os.WriteFile("/out/result", append(text, os.Args[1]...), 0o644); err != nil {
		panic(err)
	}
}
END
  printf 'package main\n\nimport "testing"\n\nfunc TestAnswer(t *testing.T) {\n\tif answer() != 42 {\n\t\tt.Fatal(answer())\n\t}\n}\n' >main_test.go
}

check_go() {
  go_module
  go vet ./... >&2
  go test ./... >&2
  go build -o answer . >&2
  expect "$(./answer)" 'answer 42'
  go env GOVERSION
}

check_golangci_lint() {
  go_module
  golangci-lint run ./... >&2
  printf 'package main\n\nfunc unused() {}\n' >unused.go
  if golangci-lint run ./... >found; then fail 'golangci-lint does not find what is wrong'; fi
  grep -q 'func unused is unused' found || fail 'golangci-lint finds something else'
  golangci-lint version --short
}

check_rust() {
  mkdir src
  printf '[package]\nname = "smoke"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
  printf 'fn answer() -> i32 { 6 * 7 }\nfn main() { println!("answer {}", answer()) }\n#[test]\nfn is_42() { assert_eq!(answer(), 42) }\n' >src/main.rs
  cargo test --offline >&2
  expect "$(cargo run --offline --quiet)" 'answer 42'
  rustc --version
}

check_node() {
  printf 'require("node:test")("answer", () => require("node:assert").equal(6 * 7, 42))\n' >answer.test.js
  node --test >&2
  node --version
}

check_pnpm() {
  mkdir library
  printf '{"name":"library","version":"1.0.0","main":"index.js"}\n' >library/package.json
  printf 'exports.answer = 42\n' >library/index.js
  printf '{"name":"smoke","private":true,"scripts":{"answer":"node -p \\"require(\047library\047).answer\\""},"dependencies":{"library":"file:./library"}}\n' >package.json
  pnpm install --offline >&2
  expect "$(pnpm --silent run answer)" 42
  pnpm --version
}

check_python() {
  python3 -m venv environment >&2
  printf 'import sys, unittest\n\nclass Answer(unittest.TestCase):\n    def test(self):\n        self.assertEqual(6 * 7, 42)\n        self.assertNotEqual(sys.prefix, sys.base_prefix)\n' >test_answer.py
  environment/bin/python -m unittest test_answer >&2
  environment/bin/pip --version >&2
  python3 --version
}

check_native() {
  printf '#include <stdio.h>\nint main(void) { return printf("answer %%d\\n", 6 * 7) < 0; }\n' >answer.c
  printf '#include <iostream>\nint main() { std::cout << "answer " << 6 * 7 << std::endl; }\n' >answer2.cc
  printf 'all: answer answer2\n' >Makefile
  make >&2
  expect "$(./answer) $(./answer2)" 'answer 42 answer 42'
  cc -dumpfullversion
}

check_browser() {
  cat >browser.js <<'END'
const { chromium } = require('playwright-core');
const assert = require('node:assert');
(async () => {
  const browser = await chromium.launch({ executablePath: process.env.PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH });
  const page = await browser.newPage({ viewport: { width: 320, height: 240 } });
  await page.setContent('<title>smoke</title><button onclick="this.textContent = 6 * 7">?</button>');
  await page.click('button');
  assert.equal(await page.textContent('button'), '42');
  const png = await page.screenshot({ path: 'page.png' });
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [320, 240]);
  console.log(`Chromium ${browser.version()}, Playwright ${require('playwright-core/package.json').version}`);
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
END
  node browser.js
}

# The image holds one program, so that it needs no registry.
check_image() {
  go_module
  CGO_ENABLED=0 go build -o answer . >&2
  printf 'FROM scratch\nCOPY answer /answer\nENTRYPOINT ["/answer"]\n' >Dockerfile
  docker buildx build --load --label "$label=$id" --tag "$image" . >&2
  expect "$(docker run --rm --pull never --label "$label=$id" "$image")" 'answer 42'
  docker version --format '{{.Client.Version}}, engine {{.Server.Version}}'
}

check_binds() {
  mkdir in out
  printf 'from the agent, ' >in/message
  docker run --rm --pull never --label "$label=$id" -v "$PWD/in:/in:ro" -v "$PWD/out:/out" "$image" 'from a container' >&2
  expect "$(cat out/result)" 'from the agent, from a container'
  expect "$(ls in)" message
  echo 'read-only and read-write'
}

check_compose() {
  mkdir in out
  printf 'from the agent, ' >in/message
  cat >compose.yaml <<END
services:
  copy:
    image: $image
    pull_policy: never
    command: [from compose]
    labels: {$label: $id}
    volumes: ["./in:/in:ro", "./out:/out"]
END
  docker compose --project-name "$id" up --exit-code-from copy >&2
  expect "$(cat out/result)" 'from the agent, from compose'
  expect "$(ls in)" message
  docker compose --project-name "$id" down --volumes >&2
  expect "$(docker ps --all --quiet --filter "label=com.docker.compose.project=$id")" ''
  docker compose version --short
}

# Everything of this run that the engine still has.
left() {
  docker ps --all --quiet --filter "label=$label=$id"
  docker images --quiet --filter "label=$label=$id"
  docker network ls --quiet --filter "label=com.docker.compose.project=$id"
  docker volume ls --quiet --filter "label=com.docker.compose.project=$id"
}

# Removes what this run made, and nothing else, and prints how much of it is left.
clean() {
  for container in $(docker ps --all --quiet --filter "label=$label=$id"); do docker rm --force "$container" >/dev/null; done
  for network in $(docker network ls --quiet --filter "label=com.docker.compose.project=$id"); do docker network rm "$network" >/dev/null; done
  [ -z "$(docker images --quiet "$image")" ] || docker image rm "$image" >/dev/null
  cd "$home"
  rm -rf "$directory"
  left | wc -l
}

if [ "${1-}" = --check ]; then # by this script itself
  check=$2 id=$3 image=$3:1
  mkdir "$check"
  cd "$check"
  "check_$(printf %s "$check" | tr - _)"
  exit
fi

home=$PWD
id=kandev-smoke-$(date +%s)-$$
image=$id:1
directory=$home/$id
mkdir "$directory"
log=$directory/log
trap 'clean >/dev/null 2>&1 || :; exit 1' HUP INT TERM
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

# Nothing is fetched, and what a tool keeps of its own goes with the rest. The repository around it is nobody's business.
export HOME="$directory/home" GOPROXY=off GOTOOLCHAIN=local GOFLAGS='-mod=mod -buildvcs=false' CI=1
mkdir "$HOME"
results='' passed=true
for check in $checks; do
  name=${check%:*} began=$(date +%s) ok=true status=0
  cd "$directory"
  detail=$(timeout -k 5 "${check#*:}" sh "$self" --check "$name" "$id" 2>"$log") || status=$?
  if [ "$status" != 0 ]; then
    ok=false passed=false detail="status $status: $(tail -n 1 "$log")"
    { echo "smoke: $name failed:"; tail -n 20 "$log"; } >&2
  fi
  detail=$(printf %s "$detail" | tr -c 'A-Za-z0-9 .,:/@+_~()-' ' ')
  results=$results${results:+,}$(printf '{"name":"%s","passed":%s,"seconds":%d,"detail":"%s"}' "$name" "$ok" "$(($(date +%s) - began))" "$detail")
done
leftovers=$(clean 2>&1) || passed=false
[ "$leftovers" = 0 ] || passed=false
case $leftovers in *[!0-9]*) leftovers=-1 ;; esac
printf '{"schemaVersion":1,"passed":%s,"checks":[%s],"leftovers":%s}\n' "$passed" "$results" "$leftovers"
[ "$passed" = true ]
