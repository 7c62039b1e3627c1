#!/usr/bin/env bash
# langchain 1.5.14, @langchain/langgraph 1.7.3 and @langchain/langgraph-checkpoint-sqlite 1.0.4, on Node 20: the process is killed after a
# tool's side effect, before its result is stored. The next build has renamed the tool. invoke(null) on the thread tells the model that
# the tool does not exist, and the run completes. So the thread never mentions the side effect, and reports it as an error.
# Seen on 2026-11-28, `durability: 'sync'`. With an unchanged build the tool runs a second time.
# Output: "effects: paid" and "result: Error: pay is not a valid tool, try one of [pay_invoice]." Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error langchain@1.5.14 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 @langchain/langgraph-checkpoint-sqlite@1.0.4 zod@4.6.7
cat > agent.mjs <<'JS'
import { appendFileSync } from 'node:fs'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const [, , word, name] = process.argv
class ScriptedModel extends BaseChatModel {
  constructor() {
    super({})
  }
  _llmType() {
    return 'scripted'
  }
  bindTools() {
    return this
  }
  async _generate(messages) {
    const isPaid = messages.some((message) => message.getType() === 'tool')
    const toolCalls = [{ id: 'c0', name, args: {}, type: 'tool_call' }]
    return { generations: [{ message: isPaid ? new AIMessage('Done.') : new AIMessage({ content: '', tool_calls: toolCalls }), text: '' }] }
  }
}
const execute = async () => {
  appendFileSync('effects.log', 'paid ')
  if (word === 'start') process.kill(process.pid, 'SIGKILL')
  return 'ok'
}
const agent = createAgent({
  model: new ScriptedModel(),
  tools: [tool(execute, { name, description: 'Pays.', schema: z.object({}) })],
  checkpointer: SqliteSaver.fromConnString('store.db'),
})
const input = word === 'start' ? { messages: [{ role: 'user', content: 'Pay' }] } : null
const { messages } = await agent.invoke(input, { configurable: { thread_id: 'a' }, durability: 'sync' })
console.log(`result: ${messages.find((message) => message.getType() === 'tool').content}`)
JS
npx -y node@20.20.2 agent.mjs start pay || true
output=$(npx -y node@20.20.2 agent.mjs again pay_invoice | grep '^result')
echo "effects: $(cat effects.log)"
echo "$output"
[ "$(cat effects.log)" = 'paid ' ] && [ "$output" = 'result: Error: pay is not a valid tool, try one of [pay_invoice].' ]
