#!/usr/bin/env bash
# @openrouter/ai-sdk-provider 3.1.0 with ai 7.0.173, on Node 20: a stream that ends after the name of a tool call, before its arguments
# and without a finish reason, becomes a call with the input {} and the finish reason tool-calls. streamText runs the tool with {},
# without an error. The whole stream is the control: it runs the tool with its arguments.
# Seen on 2026-11-29. Output: "whole: ran with {"city":"Oslo"}" and "cut: ran with {}". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error ai@7.0.173 @openrouter/ai-sdk-provider@3.1.0 zod@4.6.7
cat > cut.mjs <<'JS'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { streamText, tool } from 'ai'
import { z } from 'zod'

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const call = (piece) => chunk({ tool_calls: [{ index: 0, ...piece }] })
const start = call({ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } })
const rest = [call({ function: { arguments: '{"city":"Oslo"}' } }), chunk({}, 'tool_calls'), 'data: [DONE]\n\n']

async function ask(events) {
  let ran = 'nothing ran'
  const fetch = async () => new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
  const model = createOpenRouter({ apiKey: 'none', fetch })('openai/gpt-5')
  const inputSchema = z.object({ city: z.string().optional() })
  const weather = tool({ description: 'The weather', inputSchema, execute: (input) => { ran = `ran with ${JSON.stringify(input)}` } })
  const result = streamText({ model, prompt: 'Weather?', tools: { weather }, maxRetries: 0, onError() {} })
  await result.consumeStream()
  return ran
}
console.log(`whole: ${await ask([chunk({ role: 'assistant' }), start, ...rest])}`)
console.log(`cut: ${await ask([chunk({ role: 'assistant' }), start])}`)
JS
output=$(npx -y node@20.20.2 cut.mjs)
echo "$output"
[ "$output" = $'whole: ran with {"city":"Oslo"}\ncut: ran with {}' ]
