#!/usr/bin/env bash
# @ai-sdk/perplexity 4.0.49 with ai 7.0.173, on Node 20: tools of a request are not sent, and there is no warning about them, as there is
# for other unsupported settings (topK is the control).
# Seen on 2026-11-29. Output: "tools sent: false" and "warnings: topK". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error ai@7.0.173 @ai-sdk/perplexity@4.0.49 zod@4.6.7
cat > tools.mjs <<'JS'
import { createPerplexity } from '@ai-sdk/perplexity'
import { generateText, tool } from 'ai'
import { z } from 'zod'

globalThis.AI_SDK_LOG_WARNINGS = false
let sent
const fetch = async (_, { body }) => {
  sent = JSON.parse(body)
  return Response.json({
    id: 'c', object: 'chat.completion', created: 0, model: 'sonar', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Ok' } }],
  })
}
const weather = tool({ description: 'The weather', inputSchema: z.object({}), execute: () => '7 degrees' })
const model = createPerplexity({ apiKey: 'none', fetch })('sonar')
const { warnings = [] } = await generateText({ model, prompt: 'Weather?', tools: { weather }, topK: 5, maxRetries: 0 })
console.log(`tools sent: ${'tools' in sent}`)
console.log(`warnings: ${warnings.map(({ feature, setting }) => feature ?? setting).join(', ')}`)
JS
output=$(npx -y node@20.20.2 tools.mjs)
echo "$output"
[ "$output" = $'tools sent: false\nwarnings: topK' ]
