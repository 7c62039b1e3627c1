#!/usr/bin/env bash
# @databricks/ai-sdk-provider 0.5.1 with ai 7.0.173, on Node 20: chat completions take the finish reason from the last chunk. A chunk with
# usage and an empty list of choices after it, which OpenAI's format sends with stream_options.include_usage, turns stop into other.
# Seen on 2026-11-29. Output: "usage in the last choice: stop" and "usage in its own chunk: other". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --legacy-peer-deps --loglevel=error ai@7.0.173 @databricks/ai-sdk-provider@0.5.1 zod@4.6.7
cat > usage.mjs <<'JS'
import { createDatabricksProvider } from '@databricks/ai-sdk-provider'
import { streamText } from 'ai'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const chunk = (choices, more = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`
const text = chunk([{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }])
const end = (more) => chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], more)

async function ask(events) {
  const fetch = async () => new Response([...events, 'data: [DONE]\n\n'].join(''), { headers: { 'content-type': 'text/event-stream' } })
  const model = createDatabricksProvider({ baseURL: 'http://127.0.0.1:1', fetch }).chatCompletions('m')
  return await streamText({ model, prompt: 'Hi', maxRetries: 0 }).finishReason
}
console.log(`usage in the last choice: ${await ask([text, end({ usage })])}`)
console.log(`usage in its own chunk: ${await ask([text, end(), chunk([], { usage })])}`)
JS
output=$(npx -y node@20.20.2 usage.mjs)
echo "$output"
[ "$output" = $'usage in the last choice: stop\nusage in its own chunk: other' ]
