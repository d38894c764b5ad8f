# A Perdure worker. Mount the folder with perdure.config.ts at /app, state at /state, workspaces at /workspaces.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
# the Temporal SDK is both a peer and a development dependency; without devDependencies, npm prune keeps it as a peer
# and so are the packages of perdure serve, of fetch_url, and of the stores that a config may name, which npm prune would remove
RUN npm run build && npm pkg delete devDependencies && \
    npm pkg set "dependencies.fastify=*" "dependencies.html-to-text=*" "dependencies.redis=*" "dependencies.@aws-sdk/client-s3=*" && \
    npm prune --ignore-scripts

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production PERDURE_DIR=/state
WORKDIR /opt/perdure
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY bin bin
COPY docker docker
RUN mkdir /app /state /workspaces && chown node:node /app /state /workspaces
# the user "node" by number, so that Kubernetes can verify that it is not root
USER 1000
WORKDIR /app
VOLUME ["/state", "/workspaces"]
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["node", "/opt/perdure/docker/worker-health.mjs"]
ENTRYPOINT ["/opt/perdure/bin/perdure"]
CMD ["worker"]
