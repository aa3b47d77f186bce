"""The environments of autoscale_ray.py, whose nodes are processes of this machine: one for each of Ray's autoscalers."""

# The fake provider has this id for the head; Ray's second autoscaler compares it with the head's own.
_HEAD = "f" * 51 + "00000"

FIRST = {"RAY_AUTH_MODE": "disabled", "RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
SECOND = {
    **FIRST, "RAY_enable_autoscaler_v2": "1", "RAY_CLOUD_INSTANCE_ID": _HEAD, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": _HEAD,
}  # fmt: skip
