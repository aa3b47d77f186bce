"""See check-chart.sh. `--render FILE` only prints the manifests of a values file (`-`: of values on stdin) as JSON."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import kubernetes_validate
import promql_parser
import yaml

CHART = "helm/echelon"
VERSIONS = ("1.27", "1.31", "1.37")
RELEASE, NAMESPACE = "rel", "ns"
# Beside this interpreter, where check-chart.sh puts it; elsewhere on PATH.
HELM = shutil.which("helm", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])) or "helm"
# Kinds of operators: Kubernetes has no schema of them, so `check_foreign` checks their fields.
FOREIGN = {"RayCluster", "PodMonitor", "PrometheusRule"}

YAML_RULES = (
    "{extends: default, rules: {line-length: {max: 140}, document-start: disable, braces: {max-spaces-inside: 1}, "
    "comments: {min-spaces-from-content: 1}, comments-indentation: disable}}"
)

MINIMAL = {
    "secret": {"create": True}, "archive": {"className": "nfs"},
    "clusters": [{"name": "lab", "address": "lab.example.org:7400", "tokenSecret": {"name": "lab", "key": "token"}}],
}

OIDC = {"issuer": "https://login.example.org", "clientId": "echelon", "grants": ["guests=vision:read"]}


def merged(*changes: dict) -> dict:
    result = json.loads(json.dumps(MINIMAL))
    for change in changes:
        for key, value in change.items():
            result[key] = {**result[key], **value} if isinstance(result.get(key), dict) and isinstance(value, dict) else value
    return result


# Values that must be refused, and a word of the sentence or of the schema's message.
REFUSED = [
    ({}, "no secret"),
    (merged({"secret": {"create": False}}), "no secret"),
    (merged({"redis": {"enabled": False}}), "no Redis"),
    (merged({"redis": {"enabled": True, "url": "redis://r:6379"}}), "two Redis"),
    (merged({"redis": {"enabled": False, "url": "redis://r:6379"}}), "redisCidr"),
    (merged({"archive": {"className": ""}}), "archive is shared"),
    (merged({"archive": {"bucketUrl": "s3://b", "bucketSecret": "s"}}), "two archives"),
    (merged({"archive": {"className": "", "bucketUrl": "s3://b"}}), "no key for the bucket"),
    (merged({"archive": {"className": "", "bucketUrl": "s3://b", "bucketSecret": "s"}}), "cut off the bucket"),
    (merged({"archive": {"className": "", "bucketUrl": "s3://key:secret@b"}}), "bucketUrl"),
    (merged({"clusters": []}), "nothing to run experiments on"),
    (merged({"ingress": {"enabled": True}}), "ingress.host"),
    (merged({"ingress": {"enabled": True, "host": "e.example.org"}}), "tlsSecret"),
    (merged({"ingress": {"enabled": True, "host": "e.example.org", "tlsSecret": "t"}}), "publicUrl"),
    (merged({"api": {"oidc": {"issuer": "https://login.example.org"}}}), "needs api.oidc.clientId"),
    (merged({"api": {"publicUrl": "https://e.example.org", "oidc": OIDC}}), "no client secret"),
    (merged({"api": {"oidc": {**OIDC, "issuer": "http://login.example.org"}}}), "issuer"),
    (merged({"api": {"oidc": {**OIDC, "grants": ["a=b:read,c=*:admin"]}}}), "grants"),
    (merged({"ray": {"enabled": True}}), "shared root"),
    (merged({"secret": {"create": False, "existing": "mine"}, "ray": {"enabled": True, "sharedRoot": {"className": "nfs"}}}),
     "no secret for Ray"),
    (merged({"ray": {"enabled": True, "sharedRoot": {"className": "nfs"}, "autoscaling": {"enabled": True}}}), "cut off the autoscaler"),
    (merged({"ray": {"groups": [{"name": "g", "replicas": 1, "minReplicas": 2, "gpus": 0, "shmSize": "1Gi",
                                 "resources": {"requests": {}, "limits": {}}}]}}), "above its maxReplicas"),
    (merged({"ray": {"trainingSecret": "t"}}), "trainingSecret without"),
    (merged({"ray": {"enabled": True, "sharedRoot": {"className": "nfs"}, "trainingSecret": "rel-echelon-ray"}}),
     "is a Secret of the service"),
    (merged({"clusters": MINIMAL["clusters"] * 2}), "two clusters"),
    # Hostile: values that would break out of their place in a manifest.
    (merged({"api": {"publicUrl": 'https://x"\n  evil: "y'}}), "publicUrl"),
    (merged({"api": {"replicas": "2"}}), "replicas"),
    (merged({"image": {"repository": "x\n      hostNetwork: true"}}), "repository"),
    (merged({"clusters": [{**MINIMAL["clusters"][0], "name": "a,--help"}]}), "name"),
    (merged({"clusters": [{**MINIMAL["clusters"][0], "address": "x:1 --token"}]}), "address"),
    (merged({"redis": {"enabled": False, "url": "redis://user:password@r:6379"}}), "url"),
    (merged({"replicas": 3}), "replicas"),
    (merged({"logLevel": "debug\n  x: y"}), "logLevel"),
]


def helm(command: str, values: dict, *options: str) -> str:
    """The output of a Helm command on the chart; RuntimeError with Helm's message if it refuses."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(values, file)
        file.flush()
        release = [RELEASE] if command == "template" else []
        done = subprocess.run(
            [HELM, command, *release, CHART, "--namespace", NAMESPACE, "--values", file.name, *options],
            capture_output=True, text=True, check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr or done.stdout)
    return done.stdout


def render(values: dict) -> list[dict]:
    """The manifests; RuntimeError with Helm's message if it refuses the values."""
    return [manifest for manifest in yaml.safe_load_all(helm("template", values)) if manifest]


def check_kubernetes(manifest: dict) -> None:
    for version in VERSIONS:
        kubernetes_validate.validate(manifest, version, strict=True)


def check_foreign(manifest: dict) -> None:
    """The pods of a RayCluster against Kubernetes' own schema, and the fields that its operator requires."""
    if manifest["kind"] != "RayCluster":
        return
    spec = manifest["spec"]
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    for group in groups:
        assert isinstance(group["rayStartParams"], dict)
        assert all(isinstance(value, str) for value in group["rayStartParams"].values()), "rayStartParams are texts"
        pod = {"apiVersion": "v1", "kind": "Pod", **group["template"]}
        pod["metadata"] = {"name": "x", **pod["metadata"]}
        check_kubernetes(pod)
    for group in spec["workerGroupSpecs"]:
        assert group["minReplicas"] <= group.get("replicas", group["minReplicas"]) <= group["maxReplicas"]
        assert ("replicas" in group) != spec.get("enableInTreeAutoscaling", False), "the autoscaler owns the replicas"
        limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
        assert int(group["rayStartParams"]["num-gpus"]) == limits["nvidia.com/gpu"]


def check_values(name: str, values: dict) -> int:
    helm("lint", values, "--strict")
    manifests = render(values)
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    assert len(set(names)) == len(names), f"{name}: two manifests of one name"
    for manifest in manifests:
        if manifest["kind"] in FOREIGN:
            check_foreign(manifest)
        else:
            check_kubernetes(manifest)
    return len(manifests)


def check_files() -> int:
    """Linters over the Dockerfiles, the YAML that is no template, and the shell scripts."""
    tools = os.path.dirname(sys.executable)
    failed = 0
    for tool, *patterns in (
        ["hadolint", "deploy/docker/*Dockerfile"],
        ["yamllint", "*.yml", "deploy/**/*.yml", "deploy/**/*.yaml", f"{CHART}/*.yaml", f"{CHART}/examples/*.yaml"],
        ["shellcheck", "deploy/**/*.sh", "scripts/*.sh"],
    ):
        files = sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))
        options = {"yamllint": ["-d", YAML_RULES], "shellcheck": ["-x", "-a"]}.get(tool, [])
        failed += subprocess.run([os.path.join(tools, tool), *options, *files], check=False).returncode != 0
        print(f"{len(files)} files linted by {tool}")
    return failed


def queries() -> list[tuple[str, str]]:
    """Every expression of the rules and the board, with the name of its rule or panel."""
    with open("deploy/prometheus/rules.yml", encoding="utf-8") as file:
        rules = [rule for group in yaml.safe_load(file)["groups"] for rule in group["rules"]]
    with open("deploy/grafana/dashboards/echelon.json", encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    return [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules] + [
        (panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", [])
    ]


def check_queries() -> int:
    failed = 0
    for name, expression in queries():
        try:
            promql_parser.parse(expression)
        except ValueError as error:
            failed += 1
            print(f"FAILED  {name}: {error}: {expression}")
    print(f"{len(queries())} queries of rules and board parsed")
    return failed


def main() -> int:
    if sys.argv[1:2] == ["--render"]:
        source = sys.stdin if sys.argv[2] == "-" else open(sys.argv[2], encoding="utf-8")
        print(json.dumps(render(yaml.safe_load(source) or {})))
        return 0
    version = subprocess.run([HELM, "version", "--short"], capture_output=True, text=True, check=True).stdout.strip()
    good = {"minimal": MINIMAL}
    for path in sorted(glob.glob(f"{CHART}/examples/*.yaml")):
        with open(path, encoding="utf-8") as file:
            good[os.path.basename(path)] = yaml.safe_load(file)
    failed = 0
    for name, values in good.items():
        try:
            print(f"ok      {name}: {check_values(name, values)} manifests, Kubernetes {', '.join(VERSIONS)}")
        except Exception as error:  # noqa: BLE001 - every fault is shown before the next values are checked
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}")
    for values, word in REFUSED:
        try:
            render(values)
            failed += 1
            print(f"FAILED  accepted, but should be refused for: {word}")
        except RuntimeError as error:
            if word not in str(error):
                failed += 1
                print(f"FAILED  refused, but not for {word}: {error}")
    print(f"{len(REFUSED)} half-configured and hostile values refused; rendered by Helm {version}")
    failed += check_files()
    failed += check_queries()
    if shutil.which("promtool"):
        failed += subprocess.run(["promtool", "check", "rules", "deploy/prometheus/rules.yml"], check=False).returncode != 0
    else:
        print("skipped: promtool is not on PATH")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
