import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { createAgent, createMiddleware, tool } from 'langchain'
import { z } from 'zod'
import { build, dir, effect, instructions, paying, report, scripted } from './world.mjs'

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
    const results = messages.filter((message) => message.getType() === 'tool').length
    const name = scripted(results)
    const toolCalls = [{ id: `c${results}`, name, args: { amount: 40 }, type: 'tool_call' }]
    const message = name ? new AIMessage({ content: '', tool_calls: toolCalls }) : new AIMessage('Paid.')
    return { generations: [{ message, text: '' }] }
  }
}

function make(name, effectName) {
  const run = async () => {
    effect(effectName)
    return 'ok'
  }
  return tool(run, { name, description: name, schema: z.object({ amount: z.number() }) })
}

const hook = () => ({ jumpTo: 'end', messages: [new AIMessage('No payments today.')] })
const blocking = createMiddleware({ name: 'block', beforeModel: { hook, canJumpTo: ['end'] } })
const agent = createAgent({
  model: new ScriptedModel(),
  tools: [make(paying, 'charge'), make('receipt', 'receipt')],
  systemPrompt: instructions,
  middleware: build === 'block' ? [blocking] : [],
  checkpointer: SqliteSaver.fromConnString(`${dir}/store.db`),
})

const input = process.argv[2] === 'start' ? { messages: [{ role: 'user', content: 'Pay 40' }] } : null
const { messages } = await agent.invoke(input, { configurable: { thread_id: 'pay' }, durability: 'sync' })
const results = messages.filter((message) => message.getType() === 'tool').map(({ content }) => content)
report(`completed: ${messages.at(-1).content} Tool results: ${results.join(', ')}`)
