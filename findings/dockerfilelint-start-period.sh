#!/usr/bin/env bash
# dockerfilelint 1.8.0 (its newest version), on Node 20: reports a HEALTHCHECK with --start-period or --start-interval as a possible bug,
# "Invalid Argument Format". Docker has them since 17.05 and 25.0, and its reference documents both. --interval, --timeout and
# --retries are accepted.
# Seen on 2026-11-29. Output: "--retries=3: 0 issues", "--start-period=10s: 1 issue", "--start-interval=2s: 1 issue". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true }' > package.json
npm install --no-audit --no-fund --loglevel=error dockerfilelint@1.8.0
output=$(for option in --retries=3 --start-period=10s --start-interval=2s; do
  printf 'FROM node:20\nHEALTHCHECK %s CMD node health.mjs\nCMD ["node", "index.mjs"]\n' "$option" > Dockerfile
  count=$(npx dockerfilelint Dockerfile | grep -c 'Invalid Argument' || true)
  echo "$option: $count issue$([ "$count" = 1 ] || echo s)"
done)
echo "$output"
[ "$output" = $'--retries=3: 0 issues\n--start-period=10s: 1 issue\n--start-interval=2s: 1 issue' ]
