#!/usr/bin/env bash
# best-effort-json-parser 1.5.1, incomplete-json-parser 1.1.5 and partial-json-parser 1.2.2, on Node 20: they read JSON that is still arriving,
# as an interface does with the arguments of a tool call. None of them knows an exponent, as in 1e-05, which Python writes for 0.00001. The first
# ends the number before the "e", so a rate of 0.00001 is shown as 1, and the rest becomes a key. It parses the same text rightly once
# it is whole. The other two throw, also at the whole text. partial-json 0.1.7 reads both.
# Seen on 2026-12-01. Output: the four lines at the end. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error best-effort-json-parser@1.5.1 incomplete-json-parser@1.1.5 partial-json-parser@1.2.2 partial-json@0.1.7
cat > exponents.mjs <<'JS'
import { parse as bestEffort } from 'best-effort-json-parser'
import { IncompleteJsonParser } from 'incomplete-json-parser'
import { parse as partialJson } from 'partial-json'
import partialJsonParser from 'partial-json-parser'

const whole = JSON.stringify({ rate: 0.00001, ok: true }).replace('0.00001', '1e-05')
const parsers = {
  'best-effort-json-parser': bestEffort,
  'incomplete-json-parser': (text) => IncompleteJsonParser.parse(text),
  'partial-json-parser': partialJsonParser,
  'partial-json': (text) => partialJson(text),
}
console.error = () => {}
for (const [name, parse] of Object.entries(parsers)) {
  const values = [whole.slice(0, -1), whole].map((text) => {
    try {
      return JSON.stringify(parse(text))
    } catch (error) {
      return error.constructor.name
    }
  })
  console.log(`${name}: ${values.join(', then ')}`)
}
JS
output=$(npx -y node@20.20.2 exponents.mjs)
echo "$output"
[ "$output" = 'best-effort-json-parser: {"rate":1,"e-05,\"ok\"":true}, then {"rate":0.00001,"ok":true}
incomplete-json-parser: Error, then Error
partial-json-parser: Error, then Error
partial-json: {"rate":0.00001,"ok":true}, then {"rate":0.00001,"ok":true}' ]
