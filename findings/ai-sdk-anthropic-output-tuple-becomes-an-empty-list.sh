#!/usr/bin/env bash
# @ai-sdk/anthropic 4.0.105 with ai 7.0.173, on Node 20: the schema of a structured output loses `prefixItems` before it is sent, and keeps
# `items: false`. A closed pair of numbers becomes a list that has to be empty. The answer that fits the schema of the application does not
# fit the one that the model was given, and the lengths are only in a description. The same schema of a tool is sent as it is, strict or not.
# Seen on 2026-11-30. Output: the two lines at the end. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error zod@4.6.7 @ai-sdk/anthropic@4.0.105 ai@7.0.173
cat > tuple.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, jsonSchema, Output, tool } from 'ai'

const number = { type: 'number' }
const pair = { type: 'array', prefixItems: [number, number], items: false, minItems: 2 }
const schema = jsonSchema({ type: 'object', properties: { pair }, required: ['pair'], additionalProperties: false })

let sent
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  sent = JSON.parse(body)
  response.setHeader('content-type', 'application/json')
  const content = [{ type: 'text', text: '{"pair":[1,2]}' }]
  const usage = { input_tokens: 1, output_tokens: 1 }
  const about = { id: 'm', type: 'message', role: 'assistant', model: sent.model, stop_reason: 'end_turn', stop_sequence: null }
  response.end(JSON.stringify({ ...about, content, usage }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const anthropic = createAnthropic({ baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'none' })
const ask = (options) => generateText({ model: anthropic('claude-sonnet-4-6'), prompt: 'A pair.', ...options })

await ask({ tools: { draw: tool({ description: 'Draws.', inputSchema: schema, strict: true }) } })
console.log(`tool: ${JSON.stringify(sent.tools[0].input_schema.properties.pair)}`)
await ask({ output: Output.object({ schema }) })
console.log(`output: ${JSON.stringify(sent.output_config.format.schema.properties.pair)}`)
server.close()
JS
output=$(npx -y node@20.20.2 tuple.mjs)
echo "$output"
[ "$output" = 'tool: {"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false,"minItems":2}
output: {"type":"array","items":false,"description":"min items: 2."}' ]
