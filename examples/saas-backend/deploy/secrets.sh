#!/bin/sh
# Creates the secrets that compose.yaml reads, in deploy/secrets. Existing ones are kept.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets
random() { node -e 'console.log(require("node:crypto").randomBytes(24).toString("base64url"))'; }
[ -e secrets/saas-secret ] || random > secrets/saas-secret
[ -e secrets/postgres-password ] || random > secrets/postgres-password
[ -e secrets/database-url ] || echo "postgres://postgres:$(cat secrets/postgres-password)@postgres:5432/allium" > secrets/database-url
# These accounts have the public keys of the demo. Replace them before anybody else can reach the server.
[ -e secrets/accounts.json ] || cp ../data/accounts.json secrets/accounts.json
# The container runs as another user, which must be able to read the files.
chmod 755 secrets
chmod 644 secrets/*
