#!/usr/bin/env bash
# @ai-sdk/openai 4.0.118, @ai-sdk/openai-compatible 3.0.92, @ai-sdk/mistral 4.0.87, voyage-ai-provider 4.0.0 and jina-ai-provider 1.0.0, on
# Node 20: an answer to /v1/embeddings numbers its items, and a gateway that embeds in parallel may list them in another order. None of the
# five reads `index`, so doEmbed() returns the vectors of other texts, without an error. A gateway has to sort before it answers.
# Seen on 2026-11-30 with the answer listed backwards. Output: "openai: texts a, b get the vectors of b, a", and the same for each. Fails if
# that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps zod@4.6.7 @ai-sdk/openai@4.0.118 @ai-sdk/openai-compatible@3.0.92 \
  @ai-sdk/mistral@4.0.87 voyage-ai-provider@4.0.0 jina-ai-provider@1.0.0
cat > order.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createJina } from 'jina-ai-provider'
import { createVoyage } from 'voyage-ai-provider'

// A vector holds the letter of its text.
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { input, model } = JSON.parse(body)
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [text.charCodeAt(0)] })).reverse()
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 2, total_tokens: 2 } }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const place = { baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'none', name: 'gateway' }
const models = {
  openai: createOpenAI(place).embeddingModel('text-embedding-3-small'),
  'openai-compatible': createOpenAICompatible(place).embeddingModel('m'),
  mistral: createMistral(place).embeddingModel('mistral-embed'),
  voyage: createVoyage(place).textEmbeddingModel('voyage-3'),
  jina: createJina(place).textEmbeddingModel('jina-embeddings-v3'),
}
for (const [name, model] of Object.entries(models)) {
  const { embeddings } = await model.doEmbed({ values: ['a', 'b'] })
  console.log(`${name}: texts a, b get the vectors of ${embeddings.map(([code]) => String.fromCharCode(code)).join(', ')}`)
}
server.close()
JS
output=$(npx -y node@20.20.2 order.mjs)
echo "$output"
expected=$(for name in openai openai-compatible mistral voyage jina; do echo "$name: texts a, b get the vectors of b, a"; done)
[ "$output" = "$expected" ]
