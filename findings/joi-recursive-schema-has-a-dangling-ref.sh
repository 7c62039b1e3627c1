#!/usr/bin/env bash
# joi 18.3.2, on Node 20: the JSON Schema of an object that refers to itself by its id (link('#node')) has "$ref": "#/$defs/node", but no
# "$defs", so a validator of JSON Schema cannot resolve it. joi itself validates with it. The same link to a shared() schema is the
# control: it has its "$defs".
# Seen on 2026-11-29. Output: "itself: $ref #/$defs/node, $defs none", "shared: $ref #/$defs/node, $defs node", "joi: valid", and the error of Ajv
# 8.17.1 that it cannot resolve the reference. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error joi@18.3.2 ajv@8.17.1
cat > link.mjs <<'JS'
import Ajv from 'ajv/dist/2020.js'
import Joi from 'joi'

const node = Joi.object({ name: Joi.string(), next: Joi.link('#node') }).id('node')
const list = Joi.object({ next: Joi.link('#node') }).shared(node)
const schemaOf = (schema) => schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })

for (const [title, schema] of Object.entries({ itself: schemaOf(node), shared: schemaOf(list) }))
  console.log(`${title}: $ref ${schema.properties.next.$ref}, $defs ${Object.keys(schema.$defs ?? {}).join() || 'none'}`)
console.log(`joi: ${node.validate({ name: 'a', next: { name: 'b' } }).error?.message ?? 'valid'}`)
try {
  new Ajv({ strict: false }).compile(schemaOf(node))
  console.log('ajv: compiles')
} catch (error) {
  console.log(`ajv: ${error.message}`)
}
JS
output=$(npx -y node@20.20.2 link.mjs)
echo "$output"
[ "$output" = "itself: \$ref #/\$defs/node, \$defs none
shared: \$ref #/\$defs/node, \$defs node
joi: valid
ajv: can't resolve reference #/\$defs/node from id #" ]
