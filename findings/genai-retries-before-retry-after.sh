#!/usr/bin/env bash
# @google/genai 2.32.0, on Node 20: with httpOptions.retryOptions, a 429 is repeated after one to four seconds, whatever the Retry-After
# header says. A gateway that asks for a longer wait gets all attempts within it, so a call that would have succeeded fails, and each of them
# may count against the quota. openai 6.49.0, groq-sdk 1.6.0 and cohere-ai 8.1.0 wait as long as the header says.
# Seen on 2026-11-30, three attempts, "retry-after: 20". Output: "asked to wait 20 s: 3 attempts in less than 15 s". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @google/genai@2.32.0
cat > retries.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { GoogleGenAI } from '@google/genai'

const attempts = []
const server = createServer((_, response) => {
  attempts.push(performance.now())
  response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '20' })
  response.end(JSON.stringify({ error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${server.address().port}`
const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl, retryOptions: { attempts: 3 } } })
await ai.models.generateContent({ model: 'gemini-x', contents: 'Hi' }).catch(() => {})
const seconds = (attempts.at(-1) - attempts[0]) / 1000
console.log(`asked to wait 20 s: ${attempts.length} attempts in ${seconds < 15 ? 'less than 15 s' : 'at least 15 s'}`)
server.close()
JS
output=$(npx -y node@20.20.2 retries.mjs)
echo "$output"
[ "$output" = 'asked to wait 20 s: 3 attempts in less than 15 s' ]
