#!/usr/bin/env bash
# @requesty/ai-sdk 3.6.1 and zhipu-ai-provider 0.2.2 with ai 7.0.173, on Node 20: a streamed tool call whose arguments are an empty text,
# as servers send it for a tool without parameters, is lost. The finish reason is tool-calls, and there is no call and no error.
# A call with the arguments {} is the control, and so is qwen-ai-provider-v5 2.1.3, which keeps both.
# Seen on 2026-11-29. Output: a line per provider, as at the end. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error \
  ai@7.0.173 @requesty/ai-sdk@3.6.1 zhipu-ai-provider@0.2.2 qwen-ai-provider-v5@2.1.3 zod@4.6.7
cat > calls.mjs <<'JS'
import { createRequesty } from '@requesty/ai-sdk'
import { jsonSchema, streamText, tool } from 'ai'
import { createQwen } from 'qwen-ai-provider-v5'
import { createZhipu } from 'zhipu-ai-provider'

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const answer = (args) =>
  chunk({ role: 'assistant', tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'now', arguments: args } }] }) +
  chunk({}, 'tool_calls') +
  'data: [DONE]\n\n'
const now = tool({ description: 'The time', inputSchema: jsonSchema({ type: 'object', properties: {} }) })

async function told(create, name, args) {
  const fetch = async () => new Response(answer(args), { headers: { 'content-type': 'text/event-stream' } })
  const model = create({ apiKey: 'key', fetch })(name)
  const result = streamText({ model, prompt: 'Hello', tools: { now }, maxRetries: 0, onError() {} })
  await result.consumeStream()
  return `${(await result.toolCalls).length} with ${await result.finishReason}`
}
for (const [name, create, model] of [
  ['requesty', createRequesty, 'openai/gpt-4o'],
  ['zhipu', createZhipu, 'glm-4.6'],
  ['qwen', createQwen, 'qwen-max'],
])
  console.log(`${name}: {} ${await told(create, model, '{}')}, empty ${await told(create, model, '')}`)
JS
output=$(npx -y node@20.20.2 calls.mjs 2> /dev/null)
echo "$output"
[ "$output" = 'requesty: {} 1 with tool-calls, empty 0 with tool-calls
zhipu: {} 1 with tool-calls, empty 0 with tool-calls
qwen: {} 1 with tool-calls, empty 1 with tool-calls' ]
