#!/usr/bin/env bash
# @mastra/core 1.71.0 with @mastra/libsql 1.23.1, on Node 22: a durable agent with `recovery: { durableAgents: 'auto' }` is killed after a
# tool's side effect, before its result is stored. recover() in the next process runs the tool again, then fails with
# "Cannot read properties of undefined (reading 'messages')". So the side effect happens twice and the run has no answer.
# Seen on 2026-11-28. With 1.61.0 and libsql 1.20.0, recover() completes the run (the tool runs twice there, too, as their docs warn).
# Their issue 22636 describes the same error for createEventedAgent() since 1.62.0.
# Output: "effects: paid paid" and "recover: Cannot read properties of undefined (reading 'messages')". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --legacy-peer-deps --no-audit --no-fund --loglevel=error @mastra/core@1.71.0 @mastra/libsql@1.23.1 zod@4.6.7
cat > agent.mjs <<'JS'
import { appendFileSync } from 'node:fs'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createDurableAgent } from '@mastra/core/agent/durable'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
const call = [
  { type: 'tool-call', toolCallId: 'c0', toolName: 'pay', input: '{}' },
  { type: 'finish', finishReason: 'tool-calls', usage },
]
const text = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Paid.' },
  { type: 'text-end', id: 't' },
  { type: 'finish', finishReason: 'stop', usage },
]
const model = {
  specificationVersion: 'v2',
  provider: 'local',
  modelId: 'scripted',
  supportedUrls: {},
  async doStream({ prompt }) {
    const parts = prompt.some(({ role }) => role === 'tool') ? text : call
    return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...parts]) }
  },
}
const pay = createTool({
  id: 'pay',
  description: 'Pays.',
  inputSchema: z.object({}),
  async execute() {
    appendFileSync('effects.log', 'paid ')
    if (process.argv[2] === 'start') process.kill(process.pid, 'SIGKILL')
    return 'ok'
  },
})
const agent = new Agent({ id: 'payer', name: 'payer', instructions: 'Pay.', model, tools: { pay } })
const mastra = new Mastra({
  agents: { payer: createDurableAgent({ agent }) },
  storage: new LibSQLStore({ id: 'store', url: 'file:store.db' }),
  logger: false,
  recovery: { durableAgents: 'auto' },
})
const payer = mastra.getAgent('payer')
if (process.argv[2] === 'start') await (await payer.stream('Pay')).output.text
const { runs } = await payer.listActiveRuns()
try {
  const { output } = await payer.recover(runs[0].runId)
  console.log(`recover: ${await output.text}`)
} catch (error) {
  console.log(`recover: ${error.message}`)
}
process.exit(0)
JS
npx -y node@22.23.3 agent.mjs start || true
output=$(npx -y node@22.23.3 agent.mjs again | grep '^recover')
echo "effects: $(cat effects.log)"
echo "$output"
[ "$(cat effects.log)" = 'paid paid ' ] && [ "$output" = "recover: Cannot read properties of undefined (reading 'messages')" ]
