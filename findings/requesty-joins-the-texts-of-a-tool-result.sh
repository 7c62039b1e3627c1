#!/usr/bin/env bash
# @requesty/ai-sdk 3.6.1 with ai 7.0.173, on Node 20: a tool result of two texts is sent as one text with nothing between them, so the
# last word of one and the first of the next are one word. @ai-sdk/mistral 4.0.87 sends both apart: the control.
# Seen on 2026-11-29. Output: 'requesty: "Open.Closed."' and both texts as JSON for mistral. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error ai@7.0.173 @requesty/ai-sdk@3.6.1 @ai-sdk/mistral@4.0.87 zod@4.6.7
cat > texts.mjs <<'JS'
import { createMistral } from '@ai-sdk/mistral'
import { createRequesty } from '@requesty/ai-sdk'
import { generateText } from 'ai'

const value = ['Open.', 'Closed.'].map((text) => ({ type: 'text', text }))
const call = { toolCallId: 'c', toolName: 'states' }
const messages = [
  { role: 'user', content: 'Go' },
  { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
  { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'content', value } }] },
]
for (const [name, create, model] of [
  ['requesty', createRequesty, 'openai/gpt-4o'],
  ['mistral', createMistral, 'mistral-large-latest'],
]) {
  let sent
  const fetch = async (_, { body }) => {
    sent = JSON.parse(body).messages.find(({ role }) => role === 'tool')
    throw new Error('seen')
  }
  await generateText({ model: create({ apiKey: 'key', fetch })(model), messages, maxRetries: 0 }).catch(() => {})
  console.log(`${name}: ${JSON.stringify(sent.content)}`)
}
JS
output=$(npx -y node@20.20.2 texts.mjs 2> /dev/null)
echo "$output"
[ "$output" = 'requesty: "Open.Closed."
mistral: "[{\"type\":\"text\",\"text\":\"Open.\"},{\"type\":\"text\",\"text\":\"Closed.\"}]"' ]
