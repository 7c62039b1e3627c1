#!/usr/bin/env bash
# @ai-sdk/openai-compatible 3.0.92 and @ai-sdk/openai 4.0.118, on Node 20: an answer to /v1/embeddings whose usage has `total_tokens` and no
# `prompt_tokens`, as Voyage documents it, fails as "Invalid JSON response", although the vectors are there and usage may be left out
# altogether. voyage-ai-provider 4.0.0 reads the same answer.
# Seen on 2026-11-30. Output: the three lines at the end. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps zod@4.6.7 @ai-sdk/openai@4.0.118 @ai-sdk/openai-compatible@3.0.92 \
  voyage-ai-provider@4.0.0
cat > usage.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createVoyage } from 'voyage-ai-provider'

const server = createServer(async (request, response) => {
  for await (const _ of request);
  response.setHeader('content-type', 'application/json')
  const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.5] }]
  response.end(JSON.stringify({ object: 'list', model: 'voyage-3', data, usage: { total_tokens: 10 } }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const place = { baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'none', name: 'voyage' }
const models = {
  'openai-compatible': createOpenAICompatible(place).embeddingModel('voyage-3'),
  openai: createOpenAI(place).embeddingModel('voyage-3'),
  voyage: createVoyage(place).textEmbeddingModel('voyage-3'),
}
for (const [name, model] of Object.entries(models))
  await model.doEmbed({ values: ['Hello.'] }).then(
    ({ embeddings, usage }) => console.log(`${name}: ${embeddings.length} vector, ${usage.tokens} tokens`),
    (error) => console.log(`${name}: ${error.message}`),
  )
server.close()
JS
output=$(npx -y node@20.20.2 usage.mjs)
echo "$output"
[ "$output" = 'openai-compatible: Invalid JSON response
openai: Invalid JSON response
voyage: 1 vector, 10 tokens' ]
