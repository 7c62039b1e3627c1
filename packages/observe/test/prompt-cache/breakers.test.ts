import type { Message, Middleware, Model, ModelContext } from '@allium/core'
import type { ScriptedStep } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { compact, truncate } from '../../../memory/src/index.ts'
import type { PromptCacheBreak } from '../../src/prompt-cache.ts'
import type { Layer } from '../scene.ts'
import { calls, commonTokens, lorem, watched } from './watching.ts'

type Change = (ctx: ModelContext, now: number) => void
interface Breaker {
  readonly what: string
  readonly layers?: readonly Layer[]
  readonly steps?: ScriptedStep[]
  readonly options?: Parameters<typeof watched>[2]
  readonly named: Partial<PromptCacheBreak>
}

/** A layer that changes each request with a value that differs from call to call. */
function breaker(change: Change): Middleware[] {
  let now = 1000
  const model: Middleware['model'] = (ctx, next) => {
    change(ctx, now++)
    return next()
  }
  return [{ name: 'breaker', model }]
}

const system = (content: string): Message => ({ role: 'system', content })
const byLayer = (part: PromptCacheBreak['part']) => ({ layer: 'breaker', part, intended: false })
let minute = 0

const breakers: Breaker[] = [
  {
    what: 'a clock in the instructions',
    options: { instructions: () => `${lorem(150)} It is ${minute++} past nine. ${lorem(50)}` },
    named: { part: 'instructions', intended: false },
  },
  {
    what: 'a clock in a system message at the front',
    layers: breaker((ctx, now) => void ctx.messages.unshift(system(`It is ${now}.`))),
    named: byLayer('instructions'),
  },
  {
    what: 'a memory block after the instructions',
    layers: breaker((ctx, now) => ctx.addSystemMessage(`You remember: ${lorem(40, `m${now}`)}`)),
    named: byLayer('instructions'),
  },
  {
    what: 'the order of tools',
    layers: breaker((ctx, now) => void (now % 2 === 0 && ctx.toolDefs.reverse())),
    named: byLayer('tools'),
  },
  {
    what: 'a tool that is hidden in some calls',
    layers: breaker((ctx, now) => void (now % 2 === 0 && ctx.removeTools('search'))),
    named: byLayer('tools'),
  },
  {
    what: 'the order of keys in a schema',
    layers: breaker((ctx, now) => {
      const [type, title] = [
        ['type', 'object'],
        ['title', 'Query'],
      ] as const
      const jsonSchema = Object.fromEntries(now % 2 === 0 ? [type, title] : [title, type])
      ctx.toolDefs = ctx.toolDefs.map((def, at) => (at === 1 ? { ...def, jsonSchema } : def))
    }),
    named: byLayer('tools'),
  },
  {
    what: 'a date in the description of a tool',
    layers: breaker((ctx, now) => {
      ctx.toolDefs = ctx.toolDefs.map((def, at) => (at === 1 ? { ...def, description: `Books. Day ${now}` } : def))
    }),
    named: byLayer('tools'),
  },
  {
    what: 'the time in front of each message',
    layers: breaker((ctx, now) => {
      ctx.messages = ctx.messages.map((one) =>
        one.role === 'user' ? { ...one, content: `[${now}] ${one.content}` } : one,
      )
    }),
    named: byLayer('messages'),
  },
  {
    what: 'tool results that are emptied after a step',
    layers: breaker((ctx) => {
      const lastTool = ctx.messages.findLastIndex(({ role }) => role === 'tool')
      ctx.messages = ctx.messages.map((one, at) => (one.role === 'tool' && at < lastTool ? emptied(one) : one))
    }),
    named: byLayer('messages'),
  },
  {
    what: 'a window over the newest messages',
    layers: [truncate({ maxMessages: 5 })],
    named: { layer: 'memory:truncate', part: 'messages', intended: false },
  },
  {
    what: 'compaction, as intended',
    layers: compact({ trigger: { messages: 7 }, keep: { messages: 4 } }) as readonly Middleware[],
    steps: Array.from({ length: 9 }, (_, i) => lorem(60, `a${i}`)),
    named: { layer: 'memory:compact', intended: true },
  },
  {
    what: 'another model',
    layers: breaker((ctx, now) => void (now > 1003 && ctx.setModel(other))),
    named: byLayer('model'),
  },
  {
    what: 'another tool choice',
    layers: breaker((ctx, now) => void (now % 3 === 0 && (ctx.toolChoice = 'none'))),
    named: byLayer('toolChoice'),
  },
  {
    what: 'another response format',
    layers: breaker((ctx, now) => void (now % 3 === 0 && (ctx.responseFormat = { type: 'json' }))),
    named: byLayer('responseFormat'),
  },
]

const other: Model = {
  id: 'acme/m2',
  async *stream() {
    yield { type: 'text-delta', delta: 'Yes.' }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 9, outputTokens: 1 } }
  },
}

function emptied(message: Message): Message {
  const content = Array.isArray(message.content) ? message.content : []
  return {
    ...message,
    content: content.map((part) => (part.type === 'tool-result' ? { ...part, content: '-' } : part)),
  }
}

const searching = (): ScriptedStep[] =>
  Array.from({ length: 8 }, (_, i) => [calls('search', i), lorem(60, `a${i}`)]).flat()

describe('observe.promptCache', () => {
  it.each(breakers)(
    'names what breaks the prompt cache: $what',
    async ({ layers = [], steps = searching(), options, named }) => {
      const { session, model, events } = watched(layers, steps, options)
      for (const turn of [1, 2, 3, 4, 5]) await session.run(lorem(30, `question${turn}x`))
      expect(events[0]?.first).toMatchObject(named)
      expect(new Set(events.flatMap(({ breaks }) => breaks.map(({ layer }) => layer)))).toEqual(new Set([named.layer]))
      if (['model', 'toolChoice', 'responseFormat'].includes(named.part ?? '') || named.intended) return
      for (const { first } of events) {
        const real = model.requests.slice(1).map((now, i) => commonTokens(model.requests[i] as typeof now, now))
        expect(Math.min(...real.map((tokens) => Math.abs(tokens - first.fromToken)))).toBeLessThan(6)
      }
    },
  )
})
