#!/bin/sh
# Usage: redis-start.sh CONFIG [DATA]    Starts Redis with the configuration file CONFIG on the directory DATA (/data).
#
# First cuts a transaction that a crash left unfinished at the end of the append-only file. Redis itself keeps the first
# commands of such a transaction and runs them after the next restart, beside the repetition that the client has sent
# since. Damage that is followed by a whole transaction is left to the operator: a cut would remove acknowledged writes.
set -eu
folder=${2:-/data}/appendonlydir
# An EXEC that lacks its line end is unfinished too, hence `head`.
if ! report=$(redis-check-aof "$folder/appendonly.aof.manifest" 2>&1); then
  found=$(printf '%s\n' "$report" |
    sed -n 's/^AOF analyzed: filename=\(.*\), size=.*, ok_up_to=\([0-9]*\),.*/\2 \1/p' | tail -n 1)
  valid=${found%% *}
  file=$folder/${found#* }
  if [ -n "$found" ] && ! tail -c +$((valid + 1)) "$file" | head -c -2 | grep -qa EXEC; then
    truncate -s "$valid" "$file"
  fi
fi
exec redis-server "$1"
