# Ray image: the ray-worker and the engines that need no GPU, on Ray's own image. verl-agent has its own: verl-agent.Dockerfile.
# Ray 2.53 or newer. Before 2.52 Ray has no tokens: everyone who reaches its ports can run code.
#   docker build -f deploy/docker/ray.Dockerfile -t echelon-ray .
ARG RAY_IMAGE=rayproject/ray:2.60.0-py311-cpu
FROM ${RAY_IMAGE}
USER 0:0

COPY deploy/capture/pyproject.toml deploy/capture/README.md /opt/echelon-capture/
COPY deploy/capture/echelon_capture /opt/echelon-capture/echelon_capture
COPY deploy/ray-worker/pyproject.toml deploy/ray-worker/README.md /opt/echelon-ray-worker/
COPY deploy/ray-worker/echelon_rayworker /opt/echelon-ray-worker/echelon_rayworker
COPY deploy/docker/ray-head.sh /usr/local/bin/echelon-ray-head
# Modes are set because a checkout made under umask 077 has files that only its owner may read. Dependencies are not
# installed: grpcio, protobuf and numpy are those of Ray's image, and other versions could break Ray.
RUN chmod -R a+rX,go-w /opt/echelon-capture /opt/echelon-ray-worker && \
    chmod 0755 /usr/local/bin/echelon-ray-head && \
    install -d -o 1000 -g 100 -m 0770 /shared && \
    pip install --no-cache-dir --no-deps /opt/echelon-capture /opt/echelon-ray-worker && \
    python -c "import echelon_capture, echelon_rayworker.actor, google.protobuf, grpc, numpy"

USER 1000:100
ENV RAY_USAGE_STATS_ENABLED=0
# Ray Client and the ray-worker. Ray's dashboard is off.
EXPOSE 10001 7400
CMD ["echelon-ray-head"]
