import type { AgentEvents, Middleware, ScopeName } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { build, oneCall, scopes, settled, tool, turn } from '../../core/test/kit.ts'
import { failClosed, failOpen } from '../src/index.ts'
import { everywhere, type Loose, last, life } from './combinators-kit.ts'

const broken = new Error('the layer is broken')
const before = (scope: ScopeName, more: Partial<Middleware> = {}): Middleware =>
  everywhere((at) => (at === scope ? Promise.reject(broken) : undefined), more)
const after = (scope: ScopeName): Middleware => ({
  name: 'layer',
  async [scope](_: unknown, next: () => Promise<unknown>) {
    await next()
    throw broken
  },
})
const plain = await life([])

describe('failOpen', () => {
  describe.each(scopes)('in the %s scope', (scope) => {
    it.each([
      ['before', before(scope)],
      ['at once, before', { name: 'layer', [scope]: () => raise(broken) } as Middleware],
      ['after', after(scope)],
    ])('goes on as though the layer were not there, when it throws %s next()', async (_, layer) => {
      for (const streams of [true, false]) {
        const { log, agent: _, opening, closing, ...seen } = await life([failOpen(layer)], { streams })
        const { log: __, agent: ___, opening: ____, closing: _____, events, ...alone } = plain
        expect({ ...seen, events }).toEqual({ ...alone, events })
        if (streams) expect(seen.events).toEqual(events)
        expect([opening, closing]).toEqual([undefined, undefined])
        const what = `The layer "layer" failed in the ${scope} scope; the run continues without it: the layer is broken`
        expect(new Set(log.map(({ message }) => message))).toEqual(new Set([what]))
      }
    })

    it('tells observers, with the error', async () => {
      const { agent } = build(oneCall, [failOpen(before(scope))], { tools: [tool('work')] })
      const told: AgentEvents['layer:failed'][] = []
      agent.on('layer:failed', (event) => told.push(event))
      await agent.run('hi')
      expect(told[0]).toEqual({ type: 'layer:failed', layer: 'layer', scope, handled: 'open', error: broken })
    })
  })

  it('undoes what the layer had done to a call before it threw', async () => {
    const meddler: Middleware = {
      name: 'meddler',
      turn(ctx) {
        ctx.input = [{ role: 'user', content: 'other' }]
        ctx.messages = [{ role: 'user', content: 'other' }]
        ctx.onChunk(() => null)
        throw broken
      },
      model(ctx) {
        ctx.messages.length = 0
        ctx.setModel('other/model')
        ctx.settings.temperature = 2
        ctx.removeTools('work')
        ctx.skipCall('skipped')
        ctx.hold()
        ctx.onChunk(() => null)
        throw broken
      },
      tool(ctx) {
        ctx.modifyArgs({ changed: true })
        ctx.approve()
        ctx.skipCall('skipped')
        throw broken
      },
    }
    const { log: _, agent: __, ...seen } = await life([failOpen(meddler)])
    const { log: ___, agent: ____, ...alone } = plain
    expect(seen).toEqual(alone)
  })

  it('keeps what was denied', async () => {
    const denier: Middleware = { name: 'denier', tool: (ctx) => last(ctx.deny('no'), raise(broken)) }
    const { result } = await life([failOpen(denier)])
    expect(result?.toolCalls).toMatchObject([{ result: { status: 'denied', content: 'no' } }])
  })

  it('keeps what next() gave as it was, though the layer changed it before it threw', async () => {
    const spoiler: Middleware = {
      name: 'spoiler',
      async model(_, next) {
        const response = await next()
        response.text = 'spoiled'
        response.toolCalls.length = 0
        throw broken
      },
      async tool(_, next) {
        const result = await next()
        result.content = 'spoiled'
        throw broken
      },
    }
    const { result } = await life([failOpen(spoiler)])
    expect(result).toEqual(plain.result)
  })

  it('waits for a next() that the layer left running', async () => {
    const leaver: Middleware = { name: 'leaver', model: (_, next) => last(void next(), raise(broken)) }
    const { result } = await life([failOpen(leaver)])
    expect(result).toEqual(plain.result)
  })

  it('lets the error of inside go on, also where the layer threw another on top of it', async () => {
    const down = new Error('down')
    const inner: Middleware = { name: 'inner', model: () => raise(down) }
    const rethrows: Middleware = { name: 'outer', model: (_, next) => next().catch(() => raise(broken)) }
    const { error } = await life([failOpen(rethrows), inner])
    expect(error).toBe(down)
    const translation = new Error('translated', { cause: down })
    const translates: Middleware = { name: 'outer', model: (_, next) => next().catch(() => raise(translation)) }
    expect((await life([failOpen(translates), inner])).error).toBe(translation)
  })

  it('ends the run where the layer aborts or blocks it, even if that is swallowed', async () => {
    const blocker: Middleware = { name: 'blocker', turn: (ctx) => ctx.block('no') }
    expect((await life([failOpen(blocker)])).result).toMatchObject({ status: 'blocked' })
    const swallows: Middleware = {
      name: 'b',
      turn: (ctx) => {
        try {
          ctx.block('no')
        } catch {
          throw broken
        }
      },
    }
    expect((await life([failOpen(swallows)])).result).toMatchObject({ status: 'blocked' })
    const aborter: Middleware = { name: 'aborter', model: (ctx) => ctx.abort('gone') }
    expect((await life([failOpen(aborter)])).error).toMatchObject({ name: 'AbortError' })
  })

  it('does not excuse a misuse of next()', async () => {
    const twice: Middleware = { name: 'twice', model: async (_, next) => last(await next(), next()) }
    expect((await life([failOpen(twice)])).error).toMatchObject({ code: 'layer.next_twice' })
  })

  it.each(['turn', 'model'] as const)('lets chunks through where a transform of the %s hook throws', async (scope) => {
    const map: Middleware = {
      name: 'map',
      [scope]: (ctx: Loose, next: Loose) =>
        last(
          ctx.onChunk(() => raise(broken)),
          next(),
        ),
    }
    const pipe: Middleware = {
      name: 'pipe',
      [scope](ctx: Loose, next: Loose) {
        ctx.pipe(async function* (chunks: Loose) {
          let n = 0
          for await (const chunk of chunks)
            if (++n > 1) throw broken
            else yield chunk
        })
        return next()
      },
    }
    for (const layer of [map, pipe]) {
      const { result, shown, log } = await turn(['one two three'], [failOpen(layer)])
      expect([result?.text, shown, log.length]).toEqual(['one two three', 'one two three', 1])
    }
  })
})

describe('failClosed', () => {
  it.each([
    ['before', before],
    ['after', after],
  ] as const)(
    'blocks a turn and a model call, denies a tool call, when the layer throws %s next()',
    async (_, layer) => {
      for (const scope of ['turn', 'model'] as const)
        expect((await life([failClosed(layer(scope))])).result).toMatchObject({
          status: 'blocked',
          reason: 'The layer "layer" failed.',
        })
      const { result, log } = await life([failClosed(layer('tool'), { reason: 'Not now.' })])
      expect(result).toMatchObject({
        status: 'completed',
        toolCalls: [{ result: { status: 'denied', content: 'Not now.' } }],
      })
      expect(log).toMatchObject([
        { message: expect.stringContaining('so the call or turn is blocked: the layer is broken') },
      ])
    },
  )

  it('runs nothing that is inside', async () => {
    let ran = 0
    const inner = everywhere((scope) => scope === 'tool' && ran++, { name: 'inner' })
    await life([failClosed(before('tool')), inner])
    expect(ran).toBe(0)
  })

  it('takes back what was streamed, and says the reply', async () => {
    const { result, shown } = await turn(['a secret'], [failClosed(after('turn'), { reply: 'Sorry.' })])
    expect([result?.text, shown]).toEqual(['Sorry.', 'Sorry.'])
  })

  it('keeps the error of an agent or session hook', async () => {
    for (const scope of ['agent', 'session'] as const)
      expect((await life([failClosed(before(scope))])).opening).toBe(broken)
  })

  it('lets the error of inside go on, also where the layer threw another on top of it', async () => {
    const down = new Error('down')
    const inner: Middleware = { name: 'inner', model: () => raise(down) }
    const rethrows: Middleware = { name: 'outer', model: (_, next) => next().catch(() => raise(broken)) }
    expect((await life([failClosed(rethrows), inner])).error).toBe(down)
  })

  it.each(['turn', 'model'] as const)('blocks where a transform of the %s hook throws', async (scope) => {
    const map: Middleware = {
      name: 'm',
      [scope]: (ctx: Loose, next: Loose) =>
        last(
          ctx.onChunk(() => raise(broken)),
          next(),
        ),
    }
    const pipe: Middleware = {
      name: 'p',
      [scope]: (ctx: Loose, next: Loose) =>
        last(
          // biome-ignore lint/correctness/useYield: it fails before
          ctx.pipe(async function* () {
            throw broken
          }),
          next(),
        ),
    }
    for (const layer of [map, pipe]) {
      const { result, all } = await turn(['one two'], [failClosed(layer)])
      expect([result?.status, result?.reason, all]).toEqual(['blocked', `The layer "${layer.name}" failed.`, ''])
    }
  })

  it('inside failOpen refuses; around it there is nothing to refuse', async () => {
    expect((await life([failOpen(failClosed(before('turn')))])).result?.status).toBe('blocked')
    expect((await life([failClosed(failOpen(before('turn')))])).result?.status).toBe('completed')
  })

  it('tells observers alone', async () => {
    const { agent } = build(['never'], [failClosed(before('turn'))])
    const told: unknown[] = []
    agent.on('layer:failed', (event) => told.push(event))
    const run = agent.run('hi')
    await settled(run)
    expect(told).toMatchObject([{ scope: 'turn', handled: 'closed', error: broken }])
    for await (const event of run) expect(event.type).not.toBe('layer:failed')
  })
})

function raise(error: Error): never {
  throw error
}
