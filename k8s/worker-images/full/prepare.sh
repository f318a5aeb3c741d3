#!/bin/sh
# Prepares the workspace of a session that has a Docker engine beside it; README.md tells how to give it to a session.
# It runs in the workspace, before the agent starts, for every Pod that the session has, and does again only what is not done.
#
#   PREPARE_REPOSITORY      URL to clone; without one the workspace is left as it is. Credentials in an HTTP URL are used and
#                           kept nowhere, so put such a URL among the credentials of the session
#   PREPARE_BRANCH          branch to clone; without one the repository's default
#   PREPARE_SETUP           command that sets the repository up, run in it for every Pod
#   PREPARE_INSTALL         command that installs the agent's own tools, likewise
#   PREPARE_TASK_BRANCH     branch to work on, created where there is none; without one the cloned branch
#   PREPARE_DOCKER_SECONDS  how long the Docker engine may take to answer; 60
#
# It ends with status 69 where the engine does not answer, and with another one but 0 where anything else fails: the status is
# what the executor passes on.
set -eu

workspace=$(pwd)
repository=${PREPARE_REPOSITORY-}
# The repository until it is whole: where this is there, an earlier clone was cut off.
staging=$workspace/.git.kandev-prepare

fail() {
  printf 'prepare: %s\n' "$1" >&2
  exit "${2-1}"
}

wait_for_docker() {
  seconds=${PREPARE_DOCKER_SECONDS:-60}
  case $seconds in *[!0-9]* | 0*) fail "PREPARE_DOCKER_SECONDS is no number of seconds: $seconds" ;; esac
  command -v docker >/dev/null || fail 'the image has no docker'
  deadline=$(($(date +%s) + seconds))
  while left=$((deadline - $(date +%s))) && [ "$left" -gt 0 ]; do
    ! timeout -k 1 "$left" docker info >/dev/null 2>&1 || return 0
    sleep 1
  done
  fail "the Docker engine at ${DOCKER_HOST-its default} did not answer within $seconds seconds" 69
}

# An HTTP URL without the credentials in it. The user of an SSH URL is no secret.
without_credentials() {
  case $1 in
  http://*@* | https://*@*)
    rest=${1#*://}
    authority=${rest%%/*}
    printf '%s\n' "${1%%://*}://${authority##*@}${rest#"$authority"}"
    ;;
  *) printf '%s\n' "$1" ;;
  esac
}

# Runs git so that it reaches the repository with the credentials of its URL, which are written into no file.
reaching() {
  GIT_TERMINAL_PROMPT=0 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.$repository.insteadOf" GIT_CONFIG_VALUE_0=$origin "$@"
}

# git trusts only repositories of its own user, and the root of a volume is somebody else's.
trust_workspace() {
  git config --global --get-all safe.directory | grep -qxF -e "$workspace" ||
    git config --global --add safe.directory "$workspace"
}

# A retained workspace is this session's only if it is a repository of the same origin.
verify() {
  git -C "$workspace" rev-parse --git-dir >/dev/null 2>&1 || fail "$workspace/.git is no repository"
  found=$(git -C "$workspace" config --get remote.origin.url) || fail 'the repository in the workspace has no origin'
  found=$(without_credentials "$found")
  [ "$found" = "$origin" ] || fail "the workspace holds a repository of $found, not of $origin"
  git -C "$workspace" config remote.origin.url "$origin"
}

# A fresh volume may hold lost+found and nothing else.
verify_empty() {
  for entry in "$workspace"/* "$workspace"/.[!.]* "$workspace"/..?*; do
    case $entry in "$workspace/lost+found") continue ;; esac
    if [ -e "$entry" ] || [ -L "$entry" ]; then
      fail "the workspace holds ${entry##*/} and is no repository"
    fi
  done
}

# Clones beside what a fresh volume may hold, which git clone does not, and gives the repository its name when it is whole.
clone() {
  [ -d "$staging" ] || verify_empty
  git init -q --bare "$staging"
  export GIT_DIR="$staging" GIT_WORK_TREE="$workspace"
  git config core.bare false
  git config remote.origin.url "$origin"
  git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
  reaching git fetch -q origin
  branch=${PREPARE_BRANCH-}
  if [ -z "$branch" ]; then
    reaching git remote set-head origin --auto >/dev/null
    branch=$(git symbolic-ref --short refs/remotes/origin/HEAD)
    branch=${branch#origin/}
  fi
  git checkout -q -f -B "$branch" --track "origin/$branch" --
  unset GIT_DIR GIT_WORK_TREE
  mv "$staging" "$workspace/.git"
}

# Keeps git from speaking of what is in the workspace and not of the repository.
exclude() {
  [ -d "$workspace/.git" ] || return 0
  mkdir -p "$workspace/.git/info"
  grep -qxF -e "/$1/" "$workspace/.git/info/exclude" 2>/dev/null || printf '/%s/\n' "$1" >>"$workspace/.git/info/exclude"
}

# The image says where each tool keeps its cache. Not before the clone: it would find a workspace that is not empty.
make_caches() {
  for cache in "${GOCACHE-}" "${GOMODCACHE-}" "${CARGO_HOME-}" "${PIP_CACHE_DIR-}" "${npm_config_cache-}" "${npm_config_store_dir-}"; do
    case $cache in
    "$workspace"/?*)
      mkdir -p "$cache"
      exclude "${cache#"$workspace"/}"
      ;;
    esac
  done
  exclude 'lost+found'
}

# What was checked out is not checked out again, and a change that stands in the way of another branch is an error of git's.
select_branch() {
  branch=$PREPARE_TASK_BRANCH
  git check-ref-format --branch "$branch" >/dev/null 2>&1 || fail "PREPARE_TASK_BRANCH is no name of a branch: $branch"
  if [ "$(git symbolic-ref -q --short HEAD)" = "$branch" ]; then
    return
  elif git show-ref -q --verify "refs/heads/$branch"; then
    git checkout -q "$branch" --
  elif git show-ref -q --verify "refs/remotes/origin/$branch"; then
    git checkout -q -b "$branch" --track "origin/$branch" --
  else
    git checkout -q -b "$branch" --
  fi
}

wait_for_docker
if [ -n "$repository" ]; then
  origin=$(without_credentials "$repository")
  [ -d "$workspace/.git" ] || [ ! -e "$workspace/.git" ] || fail "$workspace/.git is no repository"
  trust_workspace
  if [ -d "$workspace/.git" ]; then verify; else clone; fi
fi
make_caches
[ -z "${PREPARE_SETUP-}" ] || sh -c "$PREPARE_SETUP" || fail 'the repository could not be set up'
[ -z "${PREPARE_INSTALL-}" ] || sh -c "$PREPARE_INSTALL" || fail "the agent's tools could not be installed"
if [ -n "$repository" ] && [ -n "${PREPARE_TASK_BRANCH-}" ]; then select_branch; fi
