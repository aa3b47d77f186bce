#!/usr/bin/env python3
"""Submits an experiment to Echelon, follows it, and says whether its advantages were right.

    pip install requests
    echo '{"name": "first", "engine": "local", "estimator": {"name": "hgpo"}}' > spec.json
    ECHELON_TOKEN=… python submit_and_watch.py http://127.0.0.1:7077 spec.json

Needs nothing but `requests`. Exit status 0: the experiment succeeded and no advantage was wrong.
"""

import json
import os
import sys
import time
import uuid

import requests


def submit(api: requests.Session, url: str, spec: dict) -> str:
    """The experiment's id. Repeated with one key until there is an answer: the experiment is accepted once."""
    key = str(uuid.uuid4())
    while True:
        try:
            answer = api.post(
                f"{url}/v1/experiments", json=spec, headers={"Idempotency-Key": key}, timeout=30
            )
        except (requests.ConnectionError, requests.Timeout):
            time.sleep(1)
            continue
        if answer.status_code == 202:
            return answer.json()["id"]
        problem = answer.json()
        if not problem["retry"]:
            places = [f"  {one['field']}: {one['message']}" for one in problem["problems"]]
            sys.exit("\n".join([problem["detail"], *places]))
        time.sleep(int(answer.headers.get("Retry-After", 1)))


def events(api: requests.Session, url: str, experiment: str):
    """Its events, each once and in order, over as many connections as it takes."""
    last = None
    while True:
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        try:
            with api.get(
                f"{url}/v1/experiments/{experiment}/events",
                headers=headers,
                stream=True,
                timeout=(10, 60),
            ) as stream:
                if stream.status_code == 204:
                    return
                stream.raise_for_status()
                message = {}
                for line in stream.iter_lines(decode_unicode=True):
                    if line == "":
                        if message.get("event") == "end":
                            return
                        if "data" in message:
                            yield json.loads(message["data"])["event"]
                            last = message.get("id", last)
                        message = {}
                    elif not line.startswith(":"):
                        field, _, value = line.partition(":")
                        message[field] = value.removeprefix(" ")
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
            pass
        time.sleep(1)


def main() -> int:
    if len(sys.argv) != 3 or "ECHELON_TOKEN" not in os.environ:
        sys.exit(__doc__)
    url, file = sys.argv[1].rstrip("/"), sys.argv[2]
    with open(file, encoding="utf-8") as source:
        spec = json.load(source)
    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {os.environ['ECHELON_TOKEN']}"
    experiment = submit(api, url, spec)
    print(experiment)
    for event in events(api, url, experiment):
        if event["type"] == "state":
            print(f"{event['to']}: {event['reason']}")
        elif event["type"] == "verification":
            print(
                f"step {event['step']}: {event['rows']} rows, {event['exact']} exact,"
                f" {event['rounding']} rounding, {event['wrong']} wrong"
            )
    record = api.get(f"{url}/v1/experiments/{experiment}", timeout=30).json()
    wrong = record["verification"]["wrong"]
    outcome = "no advantage was wrong" if wrong == 0 else f"{wrong} advantages were WRONG"
    print(f"{record['state']}; {outcome}")
    return 0 if record["state"] == "succeeded" and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
