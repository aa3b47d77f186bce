#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml reads from files. Existing ones stay as they are.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
directory="$here/secrets"
umask 077
mkdir -p "$directory/cluster" "$directory/notify"
for name in redis-password api-token cookie-secret ray-token ray-worker-token grafana-password; do
  [ -s "$directory/$name" ] && continue
  od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$directory/$name"
  # Containers run as other users; the mode of the directory keeps out other users of this machine.
  chmod 0444 "$directory/$name"
done
# The ray-worker refuses a secret of specs that other users may read, so these files belong to its user.
[ "$(id -u)" -ne 0 ] || chown -R 1000:100 "$directory/cluster"
# Containers read these files under users of their own, also from a checkout made under umask 077.
chmod -R a+rX "$here/redis.conf" "$here/../prometheus" "$here/../grafana" "$here/../../helm/echelon/files"
echo "The secrets are in $directory. The API's token: cat $directory/api-token"
