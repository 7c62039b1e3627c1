import { z } from 'zod'

/** What the mock and the tool did: the self-check compares it between the sides. */
export const done = { modelCalls: 0, chunks: 0, toolCalls: 0 }

/**
 * An instant model, the same for all sides. It asks for `steps` tool calls, one per answer, then says `texts` chunks.
 * It reads the last message alone, so that a long conversation costs it nothing.
 *
 * @param {{ steps?: number, texts?: number, wait?: () => Promise<unknown> }} [options]
 */
export function mock({ steps = 0, texts = 2, wait } = {}) {
  return {
    id: 'mock',
    async *stream({ messages }) {
      done.modelCalls++
      if (wait !== undefined) await wait()
      const last = messages[messages.length - 1]
      const step = last.role === 'tool' ? Number(last.content[0].callId.slice(4)) : 0
      if (step < steps) {
        const callId = `call${step + 1}`
        done.chunks += 3
        yield { type: 'tool-input-start', callId, name: 'weather' }
        yield { type: 'tool-input-delta', callId, delta: '{"city":"Rome"}' }
        yield { type: 'tool-input-end', callId }
      } else {
        done.chunks += texts
        for (let i = 0; i < texts; i++) yield { type: 'text-delta', delta: 'Hello ' }
      }
      const reason = step < steps ? 'tool-calls' : 'stop'
      yield { type: 'finish', reason, usage: { inputTokens: 10, outputTokens: 5 } }
    },
  }
}

export const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  schema: z.object({ city: z.string() }),
  async execute({ city }) {
    done.toolCalls++
    return `sunny in ${city}`
  },
}

export const instructions = 'Be nice.'

/** A layer that writes a state key with a reducer in each turn. */
export const counter = {
  name: 'counter',
  state: { turns: { default: 0, reducer: (total, delta) => total + delta } },
  async turn(ctx, next) {
    ctx.state.turns = 1
    await next()
  },
}
