#!/usr/bin/env bash
# qwen-ai-provider-v5 2.1.3 with ai 7.0.173, on Node 20: a request that is refused fails with an empty message, although the answer is
# the error body of Model Studio's compatible mode with its message. zhipu-ai-provider 0.2.2 on the same answer is the control.
# Seen on 2026-11-29. Output: 'qwen: 400 ""' and 'zhipu: 400 "Input is too long."'. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error ai@7.0.173 qwen-ai-provider-v5@2.1.3 zhipu-ai-provider@0.2.2 zod@4.6.7
cat > refused.mjs <<'JS'
import { generateText } from 'ai'
import { createQwen } from 'qwen-ai-provider-v5'
import { createZhipu } from 'zhipu-ai-provider'

const error = { message: 'Input is too long.', type: 'invalid_request_error', param: null, code: 'invalid_parameter_error' }
const fetch = async () => Response.json({ error, request_id: 'r' }, { status: 400 })
const settings = { apiKey: 'key', fetch }
for (const [name, model] of [
  ['qwen', createQwen(settings)('qwen-max')],
  ['zhipu', createZhipu(settings)('glm-4.6')],
]) {
  const { statusCode, message } = await generateText({ model, prompt: 'Hello', maxRetries: 0 }).catch((error) => error)
  console.log(`${name}: ${statusCode} ${JSON.stringify(message)}`)
}
JS
output=$(npx -y node@20.20.2 refused.mjs 2> /dev/null)
echo "$output"
[ "$output" = $'qwen: 400 ""\nzhipu: 400 "Input is too long."' ]
