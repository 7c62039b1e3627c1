import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createDurableAgent } from '@mastra/core/agent/durable'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'
import { build, dir, effect, instructions, paying, report, scripted } from './world.mjs'

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

const model = {
  specificationVersion: 'v2',
  provider: 'local',
  modelId: 'scripted',
  supportedUrls: {},
  async doStream({ prompt }) {
    const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : [])).length
    const tool = scripted(results)
    return {
      stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...(tool ? call(tool, results) : text())]),
    }
  },
}

function call(toolName, results) {
  const id = `c${results}`
  const input = '{"amount":40}'
  return [
    { type: 'tool-input-start', id, toolName },
    { type: 'tool-input-delta', id, delta: input },
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName, input },
    { type: 'finish', finishReason: 'tool-calls', usage },
  ]
}

function text() {
  const id = 't'
  const parts = [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: 'Paid.' },
    { type: 'text-end', id },
  ]
  return [...parts, { type: 'finish', finishReason: 'stop', usage }]
}

function tool(id, name) {
  const execute = async () => {
    effect(name)
    return 'ok'
  }
  return createTool({ id, description: name, inputSchema: z.object({ amount: z.number() }), execute })
}

const blocking = { id: 'block', name: 'block', processInput: async ({ abort }) => abort('No payments today.') }
const agent = new Agent({
  id: 'pay',
  name: 'pay',
  instructions,
  model,
  tools: { [paying]: tool(paying, 'charge'), receipt: tool('receipt', 'receipt') },
  ...(build === 'block' && { inputProcessors: [blocking] }),
})
const mastra = new Mastra({
  agents: { pay: createDurableAgent({ agent }) },
  storage: new LibSQLStore({ id: 'store', url: `file:${dir}/store.db` }),
  logger: false,
  recovery: { durableAgents: process.env.RECOVERY },
})
const pay = mastra.getAgent('pay')

if (process.argv[2] === 'start') {
  const { output } = await pay.stream('Pay 40', { maxSteps: 5 })
  await output.text
} else {
  const { runs } = await pay.listActiveRuns()
  report(runs.length === 0 ? 'no run is found' : await recovered(runs[0].runId))
}
process.exit(0)

async function recovered(runId) {
  let failure
  const onError = ({ error }) => {
    failure = String(error?.message ?? error)
  }
  try {
    const { output } = await pay.recover(runId, { onError })
    const answer = await output.text
    return failure ? `fails: ${failure}` : `completed: ${answer}`
  } catch (error) {
    return `fails: ${failure ?? error.message}`
  }
}
