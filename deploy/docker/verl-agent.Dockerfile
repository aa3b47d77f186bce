# verl-agent image: the Ray image's parts and the packages of verl-agent's recipe/hgpo, for NVIDIA GPUs.
#   docker build -f deploy/docker/verl-agent.Dockerfile -t echelon-verl-agent .
#   WebShop too: --build-arg WITH_WEBSHOP=true
# verl-agent's own checkout stays outside, on the shared volume (docs/guides/docker.md).
ARG RAY_IMAGE=rayproject/ray:2.60.0-py311-cu128
FROM ${RAY_IMAGE}
USER 0:0

# Four packages come as source, two of them in C and C++; Triton compiles at run time.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install -y --no-install-recommends build-essential cmake && \
    rm -rf /var/lib/apt/lists/*

# The lock holds the Ray version of the base image, so pip keeps it. flash-attn has no wheel in the package index: this
# is the project's own for the lock's torch, Python 3.11 and CUDA 12.
ARG FLASH_ATTN=https://github.com/Dao-AILab/flash-attention/releases/download/v2.8.3/flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp311-cp311-linux_x86_64.whl#sha256=3d41b2fc55753faa7f45d6568ea73a96b96afb48b82994ab9b49bcbcb6c87588
COPY deploy/docker/verl-agent.lock /opt/verl-agent.lock
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --require-hashes -r /opt/verl-agent.lock && \
    pip install --no-cache-dir --no-deps "$FLASH_ATTN"

# pyserini 0.22 needs Java 11; spaCy's model comes from the releases of its project.
ARG WITH_WEBSHOP=false
ARG SPACY_MODEL=https://github.com/explosion/spacy-models/releases/download/en_core_web_sm-3.8.0/en_core_web_sm-3.8.0-py3-none-any.whl#sha256=1932429db727d4bff3deed6b34cfc05df17794f4a52eeb26cf8928f7c1a0fb85
# hadolint ignore=DL3008,DL3013
RUN if [ "$WITH_WEBSHOP" = true ]; then \
      apt-get update && \
      apt-get install -y --no-install-recommends openjdk-11-jdk-headless && \
      rm -rf /var/lib/apt/lists/* && \
      pip install --no-cache-dir --no-deps "$SPACY_MODEL"; \
    fi

COPY deploy/capture/pyproject.toml deploy/capture/README.md /opt/echelon-capture/
COPY deploy/capture/echelon_capture /opt/echelon-capture/echelon_capture
COPY deploy/ray-worker/pyproject.toml deploy/ray-worker/README.md /opt/echelon-ray-worker/
COPY deploy/ray-worker/echelon_rayworker /opt/echelon-ray-worker/echelon_rayworker
COPY deploy/docker/ray-head.sh /usr/local/bin/echelon-ray-head
RUN chmod -R a+rX,go-w /opt/echelon-capture /opt/echelon-ray-worker && \
    chmod 0755 /usr/local/bin/echelon-ray-head && \
    install -d -o 1000 -g 100 -m 0770 /shared && \
    pip install --no-cache-dir --no-deps /opt/echelon-capture /opt/echelon-ray-worker && \
    python -c "import echelon_capture, echelon_rayworker.actor, google.protobuf, grpc, numpy"

USER 1000:100
# The root file system may be read-only: compiled kernels go to /tmp, models to the shared volume.
ENV RAY_USAGE_STATS_ENABLED=0 \
    XDG_CACHE_HOME=/tmp/cache \
    TRITON_CACHE_DIR=/tmp/triton \
    HF_HOME=/shared/huggingface \
    VLLM_ATTENTION_BACKEND=FLASH_ATTN
EXPOSE 10001 7400
CMD ["echelon-ray-head"]
