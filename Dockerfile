# What the program needs beside its bundle. No script of a package is run: the native parts come ready built in their packages,
# for every platform, and with their sources, of which the image keeps its own platform's alone.
FROM node:24-bookworm-slim AS deps
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts \
 && cd node_modules/better-sqlite3 && rm -rf deps src binding.gyp ../node-addon-api \
 && find prebuilds -type f -not -name "linux-$(node -p process.arch).node" -delete

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts ./scripts
COPY languages ./languages
COPY src ./src
RUN ["node", "scripts/build.ts"]

# Of the system the image has what Node loads and the names of its users: no shell, no package manager, no npm. Node brings the certificates of
# authorities and the time zones. `env` starts what `lowwater` names.
FROM node:24-bookworm-slim AS system
WORKDIR /system
RUN mkdir -p usr/local/bin etc app && install -d -m 1777 tmp && install -d -o node -g node data \
 && for file in /usr/local/bin/node /usr/bin/env $(ldd /usr/local/bin/node | grep -o '/lib[^ ]*'); do cp -L --parents "$file" .; done \
 && grep -E '^(root|node):' /etc/passwd | sed 's#:[^:]*$#:/usr/sbin/nologin#' >etc/passwd \
 && grep -E '^(root|node):' /etc/group >etc/group \
 && echo 'hosts: files dns' >etc/nsswitch.conf \
 && ln -s /app/dist/main.js usr/local/bin/lowwater

# Indented: checks take each FROM at the start of a line for one of Node's images.
 FROM scratch AS runtime
ARG VERSION=0.4.0
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="lowwater" \
      org.opencontainers.image.description="Watches prepaid messaging and voice balances and alerts teams before they run out." \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="scratch"
# The C library would keep freed memory in an arena for each thread: a tenth of what the daemon takes.
ENV PATH=/usr/local/bin:/usr/bin NODE_ENV=production LOWWATER_IMAGE=1 LOWWATER_DATA=/data MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072
COPY --from=system /system /
WORKDIR /app
COPY --from=deps /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY assets ./assets
COPY migrations ./migrations
COPY package.json LICENSE config.schema.json config.example.json ./
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=15s --retries=3 CMD ["lowwater", "health"]
# No signal opens the debugger. Young objects have 2 MB, no more and no less. What runs often is compiled in turn: all at once takes 12 MB that the
# process would keep for good.
ENTRYPOINT ["node", "--disable-sigusr1", "--min-semi-space-size=2", "--no-concurrent-recompilation", "/app/dist/main.js"]
CMD ["run"]
