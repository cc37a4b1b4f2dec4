# A node of a Ray cluster that can run detection workers: Ray's own image, Node.js and the built project, at the path
# that the service's image has too. From the project's folder:
#
#   docker build -f deploy/ray-worker.Dockerfile -t lattice-ray-worker .
#
# The tag names Ray's version and the minor version of its Python; clients (edge/) need the same of both.
ARG RAY_IMAGE=rayproject/ray:2.60.0-py311
ARG NODE_VERSION=22

FROM node:${NODE_VERSION}-bookworm-slim AS node

# Compiled on the image it will run on: the C library of another one may be newer.
FROM ${RAY_IMAGE} AS build
USER root
# For GPUs: TensorRT's headers, from NVIDIA's package source, which you add to RAY_IMAGE.
ARG TENSORRT_HEADERS=""
# AUTO builds the GPU engine where CUDA and TensorRT are found, ON insists, OFF does not look.
ARG LATTICE_CUDA=AUTO
RUN apt-get update \
    && apt-get install -y --no-install-recommends cmake g++ make libturbojpeg0-dev ${TENSORRT_HEADERS} \
    && rm -rf /var/lib/apt/lists/*
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /opt/lattice-core
COPY package.json package-lock.json .npmrc CMakeLists.txt tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY native ./native
COPY src ./src
RUN npm run setup && npm prune --omit=dev
COPY LICENSE ./
COPY models ./models
COPY cluster/lattice_ray ./cluster/lattice_ray
# A checkout made under a strict umask has files that only their owner can read.
RUN chmod -R a+rX .

FROM ${RAY_IMAGE}
USER root
# TensorRT's libraries, for GPUs; this project ships nothing of NVIDIA's.
ARG TENSORRT_LIBRARIES=""
RUN apt-get update \
    && apt-get install -y --no-install-recommends libturbojpeg ${TENSORRT_LIBRARIES} \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -o ray /var/lib/lattice
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /opt/lattice-core
COPY --from=build /opt/lattice-core/node_modules ./node_modules
COPY --from=build /opt/lattice-core/.deps/openvino/libs ./.deps/openvino/libs
COPY --from=build /opt/lattice-core/.deps/openvino/licenses ./.deps/openvino/licenses
COPY --from=build /opt/lattice-core/build/Release/lattice.node ./build/Release/lattice.node
COPY --from=build /opt/lattice-core/dist ./dist
COPY --from=build /opt/lattice-core/package.json /opt/lattice-core/LICENSE ./
COPY --from=build /opt/lattice-core/models ./models
COPY --from=build /opt/lattice-core/cluster/lattice_ray ./cluster/lattice_ray

USER ray
WORKDIR /home/ray
# Workers get the environment of `ray start`: what is set here holds for every worker of the node.
ENV NODE_ENV=production LATTICE_DATA_DIR=/var/lib/lattice PYTHONPATH=/opt/lattice-core/cluster \
    RAY_USAGE_STATS_ENABLED=0
