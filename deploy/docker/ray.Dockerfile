# syntax=docker/dockerfile:1
# Ray image: the ray-worker and the engines on Ray's own image.
# Ray 2.52 or newer: older ones know no token, and whoever reaches their ports may run anything.
#   docker build -f deploy/docker/ray.Dockerfile -t echelon-ray .
#   GPUs:     --build-arg RAY_IMAGE=rayproject/ray:2.52.1-py312-cu128
#   ALFWorld: --build-arg WITH_ALFWORLD=true
#   WebShop:  --build-arg WITH_WEBSHOP=true   (wants Python 3.10: a -py310 image)
ARG RAY_IMAGE=rayproject/ray:2.60.0-py311-cpu
FROM ${RAY_IMAGE}
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
USER 0:0

# Packages that verl-agent's environments want beside verl-agent itself, which stays outside of the image: its
# checkout lies on the shared volume, so that it can be changed without a new image.
ARG WITH_ALFWORLD=false
# hadolint ignore=DL3013
RUN if [ "$WITH_ALFWORLD" = true ]; then \
      pip install --no-cache-dir gymnasium==0.29.1 stable-baselines3==2.6.0 alfworld textworld; \
    fi
ARG WITH_WEBSHOP=false
# hadolint ignore=DL3008,DL3013
RUN if [ "$WITH_WEBSHOP" = true ]; then \
      apt-get update && \
      apt-get install -y --no-install-recommends openjdk-11-jre-headless && \
      rm -rf /var/lib/apt/lists/* && \
      pip install --no-cache-dir pyserini faiss-cpu spacy gdown gym==0.24.0 thefuzz cleantext beautifulsoup4 rank_bm25; \
    fi

COPY deploy/ray-worker/pyproject.toml /opt/echelon-ray-worker/pyproject.toml
COPY deploy/ray-worker/README.md /opt/echelon-ray-worker/README.md
COPY deploy/ray-worker/echelon_rayworker /opt/echelon-ray-worker/echelon_rayworker
# grpcio, protobuf and numpy are Ray's own: other versions could break it, so that none is brought along.
RUN pip install --no-cache-dir --no-deps /opt/echelon-ray-worker && \
    python -c "import echelon_rayworker.actor, google.protobuf, grpc, numpy"
COPY --chmod=0755 deploy/docker/ray-head.sh /usr/local/bin/echelon-ray-head
RUN install -d -o 1000 -g 100 -m 0770 /shared

USER 1000:100
ENV RAY_USAGE_STATS_ENABLED=0
# Ray Client and the ray-worker. The dashboard stays off: it needs no door here.
EXPOSE 10001 7400
CMD ["echelon-ray-head"]
