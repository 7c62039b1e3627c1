import type { Message, Middleware, ModelChunk } from '@allium/core'
import { aroundRun } from '@allium/core/context'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type LayerCaseName, layerCases, layerConformance, traceLayer } from '../../src/index.ts'
import { expectToFail } from './expect-to-fail.ts'

const nothing: Middleware = {
  name: 'nothing',
  order: {},
  turn: (_, next) => next(),
  model: (_, next) => next(),
  tool: (_, next) => next(),
}
layerConformance({ layer: nothing, describe, it, strict: true })
layerConformance({ layer: () => ({ ...traceLayer('trace', []), order: {} }), describe, it, strict: true })

/** What each of these does wrong, the layer, and the case that must find it. */
const faults: [fault: string, layer: () => Partial<Middleware>, found: LayerCaseName][] = [
  ['has no name', () => ({ name: '' }), 'has a name, and state keys that begin with it'],
  [
    'has a state key of no name',
    () => ({ state: { n: { default: 0 } } }),
    'has a name, and state keys that begin with it',
  ],
  ['tells no order', () => ({ turn: (_, next) => next() }), 'tells where it belongs'],

  [
    'rewrites what was streamed',
    () => ({ model: async (_, next) => ({ ...(await next()), text: 'Other.' }) }),
    'gives the same read as awaited',
  ],
  ['answers otherwise when it is read', impatient, 'gives the same read as awaited'],
  ['leaves next() floating in a turn', () => ({ turn: (_, next) => void next() }), 'turn: awaits next()'],
  [
    'leaves next() floating in a model call',
    () => ({
      model: (_, next) => {
        void next()
        return 'Early.'
      },
    }),
    'model: awaits next()',
  ],
  [
    'leaves next() floating in a tool call',
    () => ({
      tool: (_, next) => {
        void next()
        return 'Early.'
      },
    }),
    'tool: awaits next()',
  ],
  ['mixes calls that run at once', mixesCalls, 'tool: keeps calls apart that run at once'],

  [
    'takes the answer of others for its own',
    () => ({
      wrapHooks:
        ({ run }) =>
        async (ctx: { output: unknown }, next: () => Promise<unknown>) => {
          await run(ctx as never, next)
          ctx.output = `${ctx.output}!`
        },
    }),
    'turn: works where an outer layer answers in its place',
  ],
  ['counts on its model hook', () => remembers('model'), 'model: works where an outer layer answers in its place'],
  ['counts on its tool hook', () => remembers('tool'), 'tool: works where an outer layer answers in its place'],
  ['adds to its prompt at each attempt', growingPrompt, 'model: starts again when it is called again'],
  ['changes arguments anew at each attempt', growingArgs, 'tool: starts again when it is called again'],

  ['swallows errors of a turn', () => swallows('turn', () => true), 'turn: lets errors through'],
  ['swallows errors of a model', () => swallows('model', () => true), 'model: lets errors through'],
  ['swallows errors of a tool layer', () => swallows('tool', () => true), 'tool: lets errors through'],
  [
    'throws errors of its own',
    () => ({
      model: (_, next) =>
        next().catch(() => {
          throw new Error('It failed.')
        }),
    }),
    'model: lets errors through',
  ],
  [
    'makes a success of a failed tool',
    () => ({ tool: async (_, next) => (await next()).content as string }),
    'tool: keeps the failure of a tool a failure',
  ],

  ['holds a lock over an aborted run of its session', locksSession, 'ends with an abort at any moment'],
  ['holds a lock while it waits itself', locksWhileWaiting, 'ends with an abort at any moment'],
  ['works once', worksOnce, 'takes no notice of an abort after the run'],
  [
    'swallows an abort in a turn',
    () => swallows('turn', isAbort),
    'turn: ends with an abort while a layer inside waits',
  ],
  [
    'swallows an abort in a model call',
    () => swallows('model', isAbort),
    'model: ends with an abort while a layer inside waits',
  ],
  [
    'swallows an abort in a tool call',
    () => swallows('tool', isAbort),
    'tool: ends with an abort while a layer inside waits',
  ],
  ['holds a lock over an abort', () => locks('model'), 'model: ends with an abort at each chunk'],
  [
    'leaves a rejection to nobody',
    () => ({
      model: (ctx, next) => {
        ctx.signal.addEventListener('abort', () => void Promise.reject(new Error('Nobody.')))
        return next()
      },
    }),
    'model: ends with an abort at each chunk',
  ],
  [
    'waits for ever after an abort',
    () => ({ tool: (_, next) => next().catch(() => new Promise(() => {})) }),
    'tool: ends with an abort while a tool runs',
  ],

  ['fails where a call was denied', () => strict((status) => status === 'denied'), 'tool: lets a denial through'],
  [
    'makes a run of a skipped call',
    () => ({ tool: async (_, next) => (await next()).content as string }),
    'tool: lets a skipped result through',
  ],
  [
    'fails where no model was asked',
    () => ({
      model: async (_, next) => {
        const response = await next()
        if (response.usage.calls === 0) throw new Error('No tokens.')
        return response
      },
    }),
    'model: lets a skipped answer through',
  ],
  ['swallows a block in a turn', () => swallows('turn', isBlock), 'turn: lets a block through'],
  ['swallows a block in a model call', () => swallows('model', isBlock), 'model: lets a block through'],
  ['swallows a block in a tool call', () => swallows('tool', isBlock), 'tool: lets a block through'],
  [
    'stops a turn by itself',
    () => ({
      turn: (ctx, next) => {
        ctx.stop('mine')
        return next()
      },
    }),
    'turn: lets a stop through',
  ],
  [
    'stops at each model call',
    () => ({
      model: (ctx, next) => {
        ctx.stop('mine')
        return next()
      },
    }),
    'model: lets a stop through',
  ],
  [
    'stops at each tool call',
    () => ({
      tool: (ctx, next) => {
        ctx.stop('mine')
        return next()
      },
    }),
    'tool: lets a stop through',
  ],

  [
    'fails where a call waits',
    () => strict((status) => status === 'suspended'),
    'lets a suspension through, and runs again on resume',
  ],
  [
    'needs an input',
    () => ({ turn: (ctx, next) => ((ctx.input[0] as Message).content === '' ? undefined : next()) }),
    'lets a suspension through, and runs again on resume',
  ],
  ['keeps what waits in its process', waitsHere, 'resumes in another process'],
  [
    'fails where a human refused',
    () => strict((status) => status === 'denied'),
    'gives the model the refusal of a call that waited',
  ],

  ['tells one tenant what another was told', lastAnswer, 'keeps tenants apart'],
  ['caches answers by the question alone', cache, 'keeps tenants apart'],
  ['counts all sessions in one', countsAll, 'keeps the data of a session private while other sessions run'],
]

describe('the layer suite finds a layer that', () => {
  it.each(faults)('%s', async (fault, layer, found) => {
    if (fault.includes('to nobody')) onTestFinished(silenceRunner())
    const order = fault === 'tells no order' ? {} : { order: {} }
    await expectToFail(
      layerCases(() => ({ name: 'broken', ...order, ...layer() }) as Middleware, { strict: true }),
      found,
    )
  })

  it('has no case that no fault fails', () => {
    const found = faults.map(([, , name]) => name)
    expect(
      layerCases(nothing)
        .map(({ name }) => name)
        .filter((name) => !found.includes(name)),
    ).toEqual([])
  })
})

it('asks of a layer what it hooks; of one that hooks no call, everything', () => {
  const names = (layer: Middleware) => layerCases(layer).map(({ name }) => name.split(' ')[0])
  const model = names({ name: 'm', model: (_, next) => next() })
  expect([model.includes('model:'), model.includes('tool:'), model.includes('turn:')]).toEqual([true, false, false])
  expect(names({ name: 's', session: (_, next) => next() })).toEqual(names(nothing))
})

it('a layer without an order is a warning, and an error with `strict`', async () => {
  const warnings: string[] = []
  const layer: Middleware = { name: 'mine', model: (_, next) => next() }
  const told = (strict: boolean) =>
    layerCases(layer, { strict, warn: (message) => warnings.push(message) }).find(
      ({ name }) => name === 'tells where it belongs',
    )
  await told(false)?.run()
  expect(warnings).toEqual([expect.stringContaining('"mine" has no "order"')])
  await expect(told(true)?.run()).rejects.toThrow('has no "order"')
})

it('a case is skipped with its reason, and one that is not asked cannot be skipped', () => {
  const skip = { 'model: lets errors through': 'it answers in their place' } as const
  const skipped = layerCases(nothing, { skip }).filter((one) => one.skip !== undefined)
  expect(skipped).toMatchObject([{ name: 'model: lets errors through', skip: 'it answers in their place' }])
  expect(() => layerCases({ name: 't', tool: nothing.tool } as Middleware, { skip })).toThrow(
    'Unknown case "model: lets errors through"',
  )
})

type Layer = Partial<Middleware>
type Scope = 'turn' | 'model' | 'tool'
const isAbort = (error: Error) => error.name === 'AbortError'
const isBlock = (error: Error) => error.name === 'BlockError'

function swallows(scope: Scope, which: (error: Error) => boolean): Layer {
  return {
    async [scope](ctx: { output: string }, next: () => Promise<unknown>) {
      try {
        return await next()
      } catch (error) {
        if (!which(error as Error)) throw error
        if (scope === 'turn') ctx.output = 'Sorry.'
        return scope === 'turn' ? undefined : 'Sorry.'
      }
    },
  }
}

function strict(which: (status: string) => boolean): Layer {
  return {
    async tool(_, next) {
      const result = await next()
      if (which(result.status)) throw new Error(`Unexpected: ${result.status}`)
      return result
    },
  }
}

/** Gives up on text that comes after its timer. */
function impatient(): Layer {
  return {
    model(ctx, next) {
      let late = false
      setImmediate(() => (late = true))
      ctx.onChunk((chunk: ModelChunk) => (late && chunk.type === 'text-delta' ? null : undefined))
      return next()
    },
  }
}

function mixesCalls(): Layer {
  let callId = ''
  return {
    async tool(ctx, next) {
      callId = ctx.callId
      const result = await next()
      return { ...result, content: `${callId}: ${result.content}` }
    },
  }
}

function remembers(scope: 'model' | 'tool'): Layer {
  let last: { content?: unknown } | undefined
  return {
    async [scope](_: unknown, next: () => Promise<object>) {
      last = await next()
      return last
    },
    async turn(_, next) {
      await next()
      ;(last as object).toString()
    },
  }
}

function growingPrompt(): Layer {
  const notes: string[] = []
  return {
    model(ctx, next) {
      notes.push('Be polite.')
      ctx.addSystemMessage(notes.join(' '))
      return next()
    },
  }
}

function growingArgs(): Layer {
  let n = 0
  return {
    tool(ctx, next) {
      ctx.modifyArgs({ n: ++n })
      return next()
    },
  }
}

function locks(scope: Scope): Layer {
  let locked = false
  return {
    async [scope](_: unknown, next: () => Promise<unknown>) {
      if (locked) throw new Error('Locked.')
      locked = true
      const given = await next()
      locked = false
      return given
    },
  }
}

function locksWhileWaiting(): Layer {
  let locked = false
  return {
    async turn(ctx, next) {
      if (locked) throw new Error('Locked.')
      locked = true
      for (let i = 0; i < 5; i++) await undefined
      ctx.signal.throwIfAborted()
      locked = false
      await next()
    },
  }
}

function locksSession(): Layer {
  let locked = false
  return {
    async session(ctx, next) {
      aroundRun(ctx, async (_, run) => {
        if (locked) throw new Error('Locked.')
        locked = true
        const turn = await run()
        locked = turn.status === 'aborted'
        return turn
      })
      await next()
    },
  }
}

function worksOnce(): Layer {
  let used = false
  return {
    turn(_, next) {
      if (used) throw new Error('Once.')
      used = true
      return next()
    },
  }
}

function waitsHere(): Layer {
  const waiting = new Set<string>()
  return {
    tool(ctx, next) {
      if (ctx.approval !== undefined && !waiting.has(ctx.callId)) throw new Error('Unknown.')
      waiting.add(ctx.callId)
      return next()
    },
  }
}

function lastAnswer(): Layer {
  let last = ''
  return {
    async model(ctx, next) {
      ctx.addSystemMessage(`Before: ${last}`)
      const response = await next()
      last = response.text
      return response
    },
  }
}

function cache(): Layer {
  const answers = new Map<string, string>()
  return {
    async model(ctx, next) {
      const key = JSON.stringify(ctx.messages.filter(({ role }: { role: string }) => role === 'user'))
      const known = answers.get(key)
      if (known !== undefined) return ctx.skipCall(known)
      const response = await next()
      if (response.toolCalls.length === 0) answers.set(key, response.text)
      return response
    },
  }
}

function countsAll(): Layer {
  let calls = 0
  return {
    state: { 'broken:calls': { default: 0 } },
    model(ctx, next) {
      ctx.state['broken:calls'] = ++calls
      return next()
    },
  }
}

/** The runner's own listeners would fail the run for the rejection that is planted here. */
function silenceRunner(): () => void {
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  return () => {
    for (const listener of listeners) process.on('unhandledRejection', listener)
  }
}
