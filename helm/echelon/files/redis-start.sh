#!/bin/sh
# Usage: redis-start.sh CONFIG [DATA]    Starts Redis with the configuration file CONFIG on the directory DATA (/data).
#
# First cuts a transaction that a crash left unfinished at the end of the append-only file. Redis itself keeps the first
# commands of such a transaction and runs them after the next restart, beside the repetition that the client has sent
# since. Damage that is followed by a whole transaction is left to the operator: a cut would remove acknowledged writes.
set -eu
folder=${2:-/data}/appendonlydir
# The last file of the manifest that holds commands is the one being written. It is checked alone: the checker of Valkey 9 takes
# the snapshot before it for damage.
name=$(sed -n 's/^file \([^ ]*\) seq [0-9]* type i.*/\1/p' "$folder/appendonly.aof.manifest" 2>/dev/null | tail -n 1)
file=$folder/$name
# An EXEC that lacks its line end is unfinished too, hence `head`.
if [ -n "$name" ] && ! report=$(redis-check-aof "$file" 2>&1); then
  valid=$(printf '%s\n' "$report" | sed -n 's/^AOF analyzed: .*, ok_up_to=\([0-9]*\),.*/\1/p' | tail -n 1)
  if [ -n "$valid" ] && ! tail -c +$((valid + 1)) "$file" | head -c -2 | grep -qa EXEC; then
    truncate -s "$valid" "$file"
  fi
fi
exec redis-server "$1"
