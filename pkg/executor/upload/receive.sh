# shellcheck shell=sh
#
# Run through pods/exec as `sh -c SCRIPT kandev-receive PORT`, this takes the files of an upload on standard input. It answers once
# something listens on the PORT of the loopback address, in hexadecimal, where one is given, or has not for some seconds. $2 is
# a prefix to all paths, for tests. What it reads:
#
#   TOKEN                        the receipt repeats it
#   text MODE SHA256 SIZE PATH   a file, its bytes in the lines that follow
#   +BYTES                       with printf's escapes
#   .
#   last MODE SHA256 SIZE PATH   likewise, but put in place after every other file; then the bootstrap script is woken with the WORD
#   wake WORD
#   remove PATH
#   body MODE SHA256 SIZE PATH   a file whose bytes are the rest of the input
#   lzop|gzip MODE SHA256 SIZE PATH
#                                likewise, compressed, where that tool was offered
#   end                          where there is no body
#
# SHA256 is the sum of the whole; of 4 MiB or more also, after commas, the sums of its halves, of which the first has SIZE / 131072
# times 65536 bytes.
#
# Every file is written beside its place, verified there, and only then renamed. The exit statuses are those of package
# bootstrap. Nothing may be the last command of this shell with its output elsewhere: the runtime would end the stream.
set -eu
umask 077

root=${2-}
count=0
last=
wake=

fail() {
  printf '%s: %s\n' "$0" "$2" >&2
  exit "$1"
}

# place PATH makes sure that the path is within the owned volumes and leads through no symbolic link, and names the file
# beside it.
place() {
  case $1/ in
  *//* | */./* | */../*) fail 83 "$1 is not in its shortest form" ;;
  /opt/kandev/?* | /run/kandev/?*) ;;
  *) fail 83 "$1 is outside the owned volumes" ;;
  esac
  at=$1
  while [ "$at" ]; do
    [ ! -L "$root$at" ] || fail 84 "$at is a symbolic link"
    at=${at%/*}
  done
  [ ! -d "$root$1" ] || fail 85 "$1 is a directory"
  beside=$root${1%/*}
  [ -d "$beside" ] || mkdir -p "$beside" || fail 81 "${1%/*} cannot be made"
  beside=$beside/.kandev-$token
}

# matches SHA256 SIZE hashes the file beside the path. openssl, where it is, starts slowly, but uses instructions of the processor
# that the sha256sum of many images does not; that one hashes the halves of a large file on two processors.
matches() {
  if [ "$2" -ge 4194304 ]; then
    if sum=$(openssl dgst -sha256 -r <"$beside" 2>/dev/null); then
      [ "${sum%% *}" = "${1%%,*}" ]
      return
    fi
    if command -v dd >/dev/null; then
      halves_match "${1#*,}" "$(($2 / 131072))"
      return
    fi
  fi
  sum=$(sha256sum <"$beside")
  [ "${sum%% *}" = "${1%%,*}" ]
}

# halves_match SHA256,SHA256 BLOCKS hashes the first BLOCKS of 65536 bytes, and what follows them.
halves_match() {
  dd if="$beside" bs=65536 count="$2" 2>/dev/null | sha256sum >"$beside-half" &
  sum=$(dd if="$beside" bs=65536 skip="$2" 2>/dev/null | sha256sum)
  wait "$!"
  IFS=' ' read -r half _ <"$beside-half"
  rm -f "$beside-half"
  [ "$half,${sum%% *}" = "$1" ]
}

# verify SHA256 SIZE PATH holds the file beside the path against what was announced. wc of busybox reads it all to count it.
verify() {
  size=$(stat -c %s "$beside" 2>/dev/null) || size=$(wc -c <"$beside")
  [ "$((size))" = "$2" ] || fail 86 "$3 arrived with $((size)) bytes instead of $2"
  matches "$1" "$2" || fail 87 "$3 arrived with another SHA-256"
}

# settle MODE SHA256 SIZE PATH puts a file in its place. The umask makes mode 0600.
settle() {
  verify "$2" "$3" "$4"
  [ "$1" = 0600 ] || chmod "$1" "$beside"
  mv -f "$beside" "$root$4"
  count=$((count + 1))
}

# lines PATH writes the bytes that follow into the file beside the path.
lines() {
  while IFS= read -r line; do
    case $line in
    +*) printf '%b' "${line#+}" ;;
    .) return ;;
    *) fail 82 "$1: the upload is malformed" ;;
    esac
  done >"$beside"
  fail 86 "$1: the upload was cut off"
}

# finish puts the last file in place and gives the receipt.
finish() {
  if [ "$last" ]; then
    mv -f "$last" "$root$lastpath"
    count=$((count + 1))
    [ ! -p "$root/opt/kandev/wake" ] || echo "$wake" 1<>"$root/opt/kandev/wake"
  fi
  printf 'receipt %s %s\n' "$token" "$count"
  exit 0
}

# listening PORT looks for a socket that listens (state 0A) on 127.0.0.1.
listening() {
  while IFS=' ' read -r _ address _ state _; do
    [ "$address $state" != "0100007F:$1 0A" ] || return 0
  done </proc/net/tcp
  return 1
}

# await PORT gives up where sleep takes no fractions, or after some seconds.
await() {
  tries=250
  until listening "$1" || [ "$tries" = 0 ]; do
    sleep 0.02 2>/dev/null || return 0
    tries=$((tries - 1))
  done
}

for tool in cat chmod mkdir mv rm sha256sum wc; do
  command -v "$tool" >/dev/null || fail 80 "the image has no $tool"
done
case $(command -v printf) in
printf) ;;
*) fail 80 "the shell has no printf of its own" ;;
esac
[ -z "${1-}" ] || await "$1"
offer=
for tool in gzip lzop; do
  command -v "$tool" >/dev/null && offer=" $tool"
done
echo "kandev-receive 1$offer"

IFS= read -r token || fail 86 'the upload was cut off'
case $token in
'' | *[!0123456789abcdef]*) fail 82 'the upload is malformed' ;;
esac
trap 'rm -f "$root/opt/kandev/.kandev-$token" "$root/run/kandev/.kandev-$token" "${beside-}" "${beside:+$beside-half}" "$last"' EXIT

while IFS=' ' read -r word mode sum size path; do
  case $word in
  text)
    place "$path"
    lines "$path"
    settle "$mode" "$sum" "$size" "$path"
    ;;
  last)
    place "$path"
    beside=$beside-last
    lines "$path"
    verify "$sum" "$size" "$path"
    chmod "$mode" "$beside"
    last=$beside lastpath=$path
    ;;
  wake) wake=$mode ;;
  remove)
    place "$mode"
    rm -f "$root$mode"
    ;;
  body | gzip | lzop)
    place "$path"
    unpack='cat'
    [ "$word" = body ] || unpack="$word -dc"
    $unpack >"$beside" || fail 86 "$path: the upload was cut off"
    settle "$mode" "$sum" "$size" "$path"
    finish
    ;;
  end) finish ;;
  *) fail 82 'the upload is malformed' ;;
  esac
done
fail 86 'the upload was cut off'
