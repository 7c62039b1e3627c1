#!/usr/bin/env bash
# @helicone/ai-sdk-provider 1.0.12, on Node 20: a stream that ends in the middle of a text, and one that ends with an error event, finish
# with the reason stop and no error, as a whole answer does. @ai-sdk/openai-compatible 3.0.92 reports both as error.
# Both are asked with doStream, by the same events, and the global fetch is replaced because helicone takes none.
# Seen on 2026-11-29. Output: "helicone: whole stop, cut stop, error stop" and "openai-compatible: whole stop, cut error, error error".
# Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --legacy-peer-deps --loglevel=error @helicone/ai-sdk-provider@1.0.12 @ai-sdk/openai-compatible@3.0.92 zod@4.6.7
cat > cut.mjs <<'JS'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createHelicone } from '@helicone/ai-sdk-provider'

const data = (value) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta, finish_reason = null) =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })
const half = chunk({ role: 'assistant', content: 'Half' })
const streams = {
  whole: [half, chunk({ content: ' and half' }), chunk({}, 'stop'), 'data: [DONE]\n\n'],
  cut: [half],
  error: [half, data({ error: { message: 'Overloaded', type: 'server_error', code: null } })],
}
async function reasons(create) {
  const seen = []
  for (const [name, events] of Object.entries(streams)) {
    globalThis.fetch = async () => new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
    const { stream } = await create().doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] })
    let reason
    for await (const part of stream) if (part.type === 'finish') reason = part.finishReason.unified ?? part.finishReason
    seen.push(`${name} ${reason}`)
  }
  return seen.join(', ')
}
console.log(`helicone: ${await reasons(() => createHelicone({ apiKey: 'none' })('gpt-4o'))}`)
console.log(`openai-compatible: ${await reasons(() => createOpenAICompatible({ name: 'acme', baseURL: 'http://127.0.0.1:1' })('m'))}`)
JS
output=$(npx -y node@20.20.2 cut.mjs)
echo "$output"
[ "$output" = $'helicone: whole stop, cut stop, error stop\nopenai-compatible: whole stop, cut error, error error' ]
