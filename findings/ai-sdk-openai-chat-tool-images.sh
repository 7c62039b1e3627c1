#!/usr/bin/env bash
# ai 7.0.173 with @ai-sdk/openai 4.0.118, on Node 20: an image in the result of a tool is an image part in a request to the Responses API
# (openai.responses()). In a request to Chat Completions (openai.chat()) it is JSON text with the base64 in it, without a warning: the
# model cannot see the image, and the text costs tokens by its size.
# Seen on 2026-11-29. Output: "responses: input_image" and "chat: text of 170 characters, 0 warnings". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error ai@7.0.173 @ai-sdk/openai@4.0.118
cat > images.mjs <<'JS'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data } }
const call = { toolCallId: 'c', toolName: 'screenshot' }
const messages = [
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
  { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'content', value: [image] } }] },
]
const answers = {
  responses: {
    id: 'r', object: 'response', created_at: 0, model: 'gpt-5', status: 'completed', usage: { input_tokens: 1, output_tokens: 1 },
    output: [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Ok', annotations: [] }] }],
  },
  chat: {
    id: 'c', object: 'chat.completion', created: 0, model: 'gpt-5', usage: { prompt_tokens: 1, completion_tokens: 1 },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Ok' } }],
  },
}
async function ask(api) {
  let sent
  const fetch = async (_, { body }) => {
    sent = JSON.parse(body)
    return Response.json(answers[api])
  }
  const openai = createOpenAI({ apiKey: 'none', fetch })
  const { warnings = [] } = await generateText({ model: openai[api]('gpt-5'), messages, maxRetries: 0 })
  return { sent, warnings }
}
const { sent: responses } = await ask('responses')
console.log(`responses: ${responses.input.at(-1).output[0].type}`)
const { sent: chat, warnings } = await ask('chat')
const { content } = chat.messages.at(-1)
console.log(`chat: ${typeof content === 'string' && content.includes(data) ? `text of ${content.length} characters` : 'no text'}, ${warnings.length} warnings`)
JS
output=$(npx -y node@20.20.2 images.mjs)
echo "$output"
[ "$output" = $'responses: input_image\nchat: text of 170 characters, 0 warnings' ]
