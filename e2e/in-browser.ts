import { Agent, type Model } from '../packages/core/src/index.ts'

// Runs in a page and in a worker: a turn with a tool, a layer with state, a transform, a run that is aborted, and one that
// waits for a human, goes through JSON and is resumed with its token.
const model: Model = {
  id: 'in-browser',
  async *stream({ messages, signal }) {
    const { role, content } = messages.at(-1) ?? { role: 'user', content: '' }
    if (content === 'wait')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    if (role === 'tool') yield { type: 'text-delta', delta: 'done' }
    else {
      yield { type: 'tool-input-start', callId: 'c1', name: 'double' }
      yield { type: 'tool-input-delta', callId: 'c1', delta: '{"n":21}' }
      yield { type: 'tool-input-end', callId: 'c1' }
    }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
  },
}

const double = {
  name: 'double',
  description: 'Doubles a number.',
  jsonSchema: { type: 'object', properties: { n: { type: 'number' } } },
  execute: ({ n }: { n: number }) => n * 2,
}

export async function turnInBrowser(): Promise<string> {
  const agent = new Agent({ model, tools: [double] }).use({
    name: 'louder',
    state: { calls: { default: 0, reducer: (total, delta) => total + delta } },
    async model(ctx, next) {
      ctx.state.calls = 1
      ctx.onChunk((chunk) => (chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta.toUpperCase() } : undefined))
      return next()
    },
  })
  const { text, toolCalls, state, usage } = await agent.run('double 21')
  const waiting = agent.run('wait')
  setTimeout(() => waiting.abort('enough'))
  const aborted = await waiting.catch((error: Error) => error.name)
  return JSON.stringify([text, toolCalls[0]?.result.content, state.calls, usage.calls, aborted, await approved()])
}

async function approved(): Promise<string> {
  const asking = new Agent({
    model,
    tools: [{ ...double, requireApproval: true }],
    approvals: { secret: 'of the page' },
  })
  const first = asking.session()
  const { pending } = await first.run('double 21')
  const second = asking.session()
  second.restore(JSON.parse(JSON.stringify(first.snapshot())))
  const { status } = await second.resume({ c1: { approve: true, token: pending[0]?.token ?? '' } })
  return status
}
