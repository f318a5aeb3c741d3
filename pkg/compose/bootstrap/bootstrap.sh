# shellcheck shell=sh
#
# Run as `sh -c SCRIPT kandev-bootstrap`, this is the main container's first process: it waits for a
# verified upload and becomes the agent. Run as `sh -c SCRIPT kandev-prepare` inside that container, it
# becomes the preparation script, in the agent's environment. $1 is a prefix to all paths, for tests.
#
# The kubelet expands $(NAME) and halves doubled dollar signs in a command, so neither occurs here. A
# variable begins with _k_, so that none of the container's own is changed. Spaces, never tabs, indent:
# YAML then shows the script as lines. This text is in every Pod spec: keep it short. See doc.go.
set -eu
trap '[ -z "${!-}" ] || kill -9 "$!" 2>/dev/null; exit 143' HUP INT QUIT TERM

_k_root=${1-}
_k_run=$_k_root/opt/kandev
_k_home=/run/kandev/home
_k_new=
_k_nl='
'

_k_fail() {
  printf '%s: %s\n' "$0" "$2" >&2 || :
  exit "$1"
}

# Neither the path nor an ancestor is a symbolic link.
_k_plain() {
  _k_p=$1
  while [ "$_k_p" ]; do
    [ ! -L "$_k_root$_k_p" ] || _k_fail 84 "$_k_p is a symbolic link"
    _k_p=${_k_p%/*}
  done
}

# A regular file that this process can read.
_k_file() {
  _k_plain "$1"
  if [ ! -f "$_k_root$1" ] || [ ! -r "$_k_root$1" ]; then
    _k_fail 85 "$1 is missing or not a readable file"
  fi
}

# _k_check SHA256 SIZE PATH. The size only tells a cut file from a changed one. The agent, which is large, is not hashed when its
# uploader has just done so.
_k_check() {
  case $3/ in
  *//* | */./* | */../* | "$_k_home"/*) _k_fail 83 "the start marker lists $3" ;;
  /opt/kandev/?* | /run/kandev/?*) ;;
  *) _k_fail 83 "$3 is outside the owned volumes" ;;
  esac
  _k_file "$3"
  [ "$3 $_k_new" != '/opt/kandev/agentctl 2' ] || return 0
  sha256sum <"$_k_root$3" | {
    IFS=' ' read -r _k_got _k_p
    [ "$_k_got" = "$1" ]
  } && return
  wc -c <"$_k_root$3" | {
    IFS=' ' read -r _k_got _k_p
    [ "$_k_got" = "$2" ]
  } || _k_fail 86 "$3 is not as long as its upload"
  _k_fail 87 "$3 differs from its upload"
}

_k_marked() { [ -e "$_k_run/start" ] || [ -L "$_k_run/start" ]; }

# File 3 is the FIFO, held open both ways: what is written before the read begins is not lost, and no
# writer's death ends the read. The marker is the truth, a line in the FIFO only a reason to look again.
# A signal that comes just before a read begins would wait for its end; the wait builtin has no such gap.
_k_wait() {
  until _k_marked; do
    {
      read -r _k_p <&3 || exit 1
      [ "$_k_p" != verified ] || exit 2
    } &
    _k_new=0
    wait "$!" || _k_new=$?
    case $_k_new in 0 | 2) ;; *) return ;; esac
  done
}

# Reads the marker on standard input and checks every file that it lists.
_k_verify() {
  IFS= read -r _k_p && [ "$_k_p" = 'kandev-start 1' ] || return
  _k_need='/opt/kandev/agentctl /opt/kandev/runtime.env /run/kandev/auth.env '
  while IFS=' ' read -r _k_sum _k_size _k_path; do
    if [ "$_k_sum $_k_size" = "end " ]; then
      ! read -r _k_p && [ -z "$_k_p$_k_need" ]
      return
    fi
    [ "$_k_path" ] || return
    _k_check "$_k_sum" "$_k_size" "$_k_path"
    case $_k_need in "$_k_path "*) _k_need=${_k_need#* } ;; esac
  done
  return 1
}

# Exports each NAME=VALUE line of a file; a line that begins with + continues the value above it. In a UTF-8
# locale, bash would take a newline after a broken character for a part of it. Called without standard error,
# where a shell would print a value that it does not like.
_k_env() {
  _k_set=
  while IFS= LC_ALL=C read -r _k_line; do
    case $_k_line in
    +*) [ "$_k_set" ] && _k_set=$_k_set$_k_nl${_k_line#+} || return ;;
    *=*)
      case ${_k_line%%=*} in
      '' | _k_* | [0123456789]* | *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_]*) return 1 ;;
      esac
      [ -z "$_k_set" ] || export "${_k_set?}"
      _k_set=$_k_line
      ;;
    *) return 1 ;;
    esac
  done <"$_k_root$1"
  [ -z "$_k_set" ] || export "${_k_set?}"
  [ -z "$_k_line" ]
}

for _k_p in cat chmod mkdir mv rm sha256sum wc; do
  command -v "$_k_p" >/dev/null || _k_fail 80 "the image has no $_k_p"
done
for _k_p in /opt/kandev /run/kandev; do
  if [ ! -d "$_k_root$_k_p" ] || [ ! -w "$_k_root$_k_p" ]; then
    _k_fail 81 "$_k_p is not a writable directory"
  fi
done

if [ "$0" != kandev-prepare ]; then
  if ! _k_marked; then
    rm -f "$_k_run/wake"
    ! mkfifo -m 600 "$_k_run/wake" 2>/dev/null || _k_wait 3<>"$_k_run/wake" || :
    # Without FIFOs, look once a second.
    _k_marked || command -v sleep >/dev/null || _k_fail 80 "the image has neither mkfifo nor sleep"
    until _k_marked; do
      sleep 1 &
      wait "$!"
    done
  fi
  [ ! -p "$_k_run/wake" ] || rm -f "$_k_run/wake"
  _k_file /opt/kandev/start
  _k_verify <"$_k_run/start" || _k_fail 82 "the start marker is malformed"
  [ -x "$_k_run/agentctl" ] || _k_fail 89 "/opt/kandev/agentctl is not executable"
fi

_k_plain "$_k_home"
if [ -d "$_k_root$_k_home" ]; then
  chmod 700 "$_k_root$_k_home" 2>/dev/null || _k_fail 90 "$_k_home cannot be made private"
else
  mkdir -m 700 "$_k_root$_k_home" 2>/dev/null || _k_fail 90 "$_k_home cannot be made"
fi
cd "$_k_root/workspace" 2>/dev/null || _k_fail 91 "/workspace cannot be entered"

for _k_path in /opt/kandev/runtime.env /run/kandev/auth.env; do
  _k_file "$_k_path"
  _k_env "$_k_path" 2>/dev/null || _k_fail 88 "$_k_path is malformed"
done
export HOME="$_k_root$_k_home"

[ "$0" != kandev-prepare ] || {
  _k_file /opt/kandev/prepare.sh
  [ ! -x "$_k_run/prepare.sh" ] || exec "$_k_run/prepare.sh"
  exec /bin/sh "$_k_run/prepare.sh"
}
# A new agent knows no token of the one before it.
rm -f "$_k_root/run/kandev/control-token" || _k_fail 81 '/run/kandev/control-token cannot be removed'
exec "$_k_run/agentctl"
