#!/usr/bin/env bash
# workers-ai-provider 4.0.0 with ai 7.0.173, on Node 20: a stream whose finish_reason is content_filter ends with the finish reason stop, so
# a filtered answer looks complete; a stream without any chunk does, too. A stream that ends with length is the control.
# Seen on 2026-11-29. Output: "content_filter: stop", "length: length" and "no chunk: stop". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error ai@7.0.173 workers-ai-provider@4.0.0 zod@4.6.7
cat > reason.mjs <<'JS'
import { streamText } from 'ai'
import { createWorkersAI } from 'workers-ai-provider'

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const answer = (reason) => [chunk({ role: 'assistant', content: 'Hi' }), chunk({}, reason), 'data: [DONE]\n\n']

async function reasonOf(events) {
  const binding = { run: async () => new Response(events.join('')).body }
  const model = createWorkersAI({ binding })('@cf/meta/llama-3.3-70b-instruct-fp8-fast')
  const result = streamText({ model, prompt: 'Hello', maxRetries: 0 })
  await result.consumeStream()
  return result.finishReason
}
for (const reason of ['content_filter', 'length']) console.log(`${reason}: ${await reasonOf(answer(reason))}`)
console.log(`no chunk: ${await reasonOf([])}`)
JS
output=$(npx -y node@20.20.2 reason.mjs)
echo "$output"
[ "$output" = $'content_filter: stop\nlength: length\nno chunk: stop' ]
