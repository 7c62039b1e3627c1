#!/usr/bin/env bash
# typebox 1.4.3: Type.Tuple() writes the list of items that draft 07 had ("items": [...], "additionalItems": false), without $schema. JSON
# Schema 2020-12, in which MCP and the strict modes of providers read schemas, has prefixItems for that, and a list is no valid value of items
# there. A validator for 2020-12 refuses to compile the schema.
# Seen on 2026-11-30 with ajv 8.20.0. Output: "items,additionalItems refused". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error typebox@1.4.3 ajv@8.20.0
cat > tuple.mjs <<'JS'
import Ajv2020 from 'ajv/dist/2020.js'
import { Type } from 'typebox'

const tuple = JSON.parse(JSON.stringify(Type.Tuple([Type.String(), Type.Number()])))
const keys = ['prefixItems', 'items', 'additionalItems'].filter((key) => key in tuple)
let outcome = 'compiled'
try {
  new Ajv2020.default({ strict: false }).compile(tuple)
} catch {
  outcome = 'refused'
}
console.log(keys.join(), outcome)
JS
output=$(npx -y node@20.20.2 tuple.mjs)
echo "$output"
[ "$output" = 'items,additionalItems refused' ]
