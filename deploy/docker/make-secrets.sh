#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml takes from files; those that are there stay as they are.
set -euo pipefail
directory="$(dirname "$0")/secrets"
umask 077
mkdir -p "$directory" "$directory/cluster"
for name in redis-password api-token cookie-secret ray-token ray-worker-token grafana-password; do
  [ -s "$directory/$name" ] && continue
  od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$directory/$name"
  # Containers run as other users; the directory keeps others on this machine out.
  chmod 0444 "$directory/$name"
done
# The ray-worker refuses a secret of specs that others may read, so that these belong to its user.
[ "$(id -u)" -ne 0 ] || chown -R 1000:100 "$directory/cluster"
echo "secrets are in $directory; the api's token: cat $directory/api-token"
