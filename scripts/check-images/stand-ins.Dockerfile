# Stand-ins of the base images; see check-images.sh.
FROM local/debian AS base
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' > /etc/pip.conf

FROM base AS node
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
ARG REGISTRY
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    NPM_CONFIG_REGISTRY=${REGISTRY}
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm

FROM base AS redis
RUN userdel redis && groupadd -r -g 999 redis && useradd -r -g 999 -u 999 redis && \
    rm -rf /etc/redis /var/lib/redis && mkdir /data && chown 999:999 /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]

FROM base AS ray
ENV PATH=/home/ray/anaconda3/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/ray
RUN useradd -ms /bin/bash -d /home/ray ray --uid 1000 --gid 100
USER 1000
WORKDIR /home/ray
ARG RAY_PACKAGES
RUN --mount=type=bind,source=wheels,target=/wheels python3 -m venv /home/ray/anaconda3 && \
    pip install -q --no-cache-dir --no-index --find-links /wheels $RAY_PACKAGES

FROM base AS prometheus
COPY prometheus /bin/prometheus
RUN install -d -o 65534 -g 65534 /prometheus
USER 65534
VOLUME /prometheus
ENTRYPOINT ["/bin/prometheus"]

FROM base AS grafana
RUN install -d -o 472 -g 0 /var/lib/grafana
RUN printf '%s\n' '#!/bin/sh -e' \
    'cat "$GF_SECURITY_ADMIN_PASSWORD__FILE" /etc/grafana/provisioning/*/*.yml /var/lib/grafana/dashboards/*.json >/dev/null' \
    'echo start >> /var/lib/grafana/starts' 'exec sleep infinity' > /run.sh && chmod 0755 /run.sh
USER 472
ENTRYPOINT ["/run.sh"]

# Ray's image for GPUs, as far as building on it goes. Ubuntu 22.04 has Java 11, Debian 12 has not: it comes from Debian 11.
FROM ray AS ray-gpu
USER 0:0
RUN apt-get update && apt-get install -y --no-install-recommends python3-dev && \
    printf 'deb http://deb.debian.org/debian bullseye main\n' >> /etc/apt/sources.list && \
    rm -rf /var/lib/apt/lists/*
COPY wheels-of-verl-agent /opt/stand-ins
USER 1000
