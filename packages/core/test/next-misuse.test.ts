import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { build, failure, oneCall, rest, scopes, tool, turn } from './kit.ts'
import { codeOf, misuse, misuses } from './next-misuse.ts'

const ways = Object.keys(misuses) as (keyof typeof misuses)[]
const all = ways.flatMap((how) => scopes.map((scope) => [how, scope] as const))

describe('a wrong next()', () => {
  it.each(all)('%s in the %s scope is an error that names the layer', async (how, scope) => {
    const { errors, inner } = await misuse(scope, how)
    expect(errors).toContainEqual({ code: codeOf(how, scope), layer: 'bad', scope })
    if (how === 'twice' || how === 'running') expect(inner).toBe(1)
  })

  it.each([
    ['late', 'Layer "bad" (model) called next() after it returned. Call it earlier, and await it.'],
    ['running', 'Layer "bad" (model) called next() while its last next() was still running. Await it.'],
    [
      'floating',
      'Layer "bad" (model) returned while its next() was still running. Write "await next()" or "return next()".',
    ],
    ['twice', 'Layer "bad" (model) called next() twice. To call it again after a success, declare "reenters: true".'],
  ] as const)('%s is told with its fix', async (how, message) => {
    const { messages } = await misuse('model', how)
    expect(messages).toContain(message)
  })

  it('twice in a scope that is entered once says so', async () => {
    const { messages } = await misuse('session', 'twice')
    expect(messages).toContain(
      'Layer "bad" (session) called next() twice. The session scope is entered once, so keep its first result.',
    )
  })

  it('is the same error in production, and leaves no rejection unhandled', async () => {
    const child = fileURLToPath(new URL('./next-misuse.child.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@allium/source', '--import=tsx', child],
      { env: { ...process.env, NODE_ENV: 'production' } },
    )
    const { outcomes, unhandled, env } = JSON.parse(stdout)
    expect({ unhandled, env }).toEqual({ unhandled: 0, env: 'production' })
    for (const [how, scope] of all)
      expect(outcomes[`${how} ${scope}`].errors, `${how} ${scope}`).toContainEqual({
        code: codeOf(how, scope),
        layer: 'bad',
        scope,
      })
  }, 20_000)

  it.each(['agent', 'session'] as const)('floating in the %s scope fails the opening, not the end', async (scope) => {
    const { agent } = build(
      ['ok'],
      [
        {
          name: 'bad',
          async [scope](_: unknown, next: () => Promise<void>) {
            void next()
          },
        },
      ],
    )
    const error = await failure(() => agent.session().open())
    expect(error).toMatchObject({ code: 'layer.floating_next' })
  })

  it.each(['turn', 'model', 'tool'] as const)(
    'leaked from one turn to another does nothing but fail: %s',
    async (scope) => {
      let leaked: (() => Promise<unknown>) | undefined
      const errors: unknown[] = []
      const layer = {
        name: 'leaker',
        async [scope](_: unknown, next: () => Promise<unknown>) {
          if (leaked !== undefined) errors.push(await failure(leaked()))
          else leaked = next
          return next()
        },
      }
      const { agent, model } = build([...oneCall, { toolCalls: [{ name: 'work', callId: 'c2' }] }, 'done'], [layer], {
        tools: [tool('work')],
      })
      const session = agent.session()
      await session.run('1')
      await session.run('2')
      expect(errors.length).toBeGreaterThan(0)
      for (const error of errors) expect(error).toMatchObject({ code: 'layer.next_late', details: { layer: 'leaker' } })
      expect(model.calls).toBe(4)
    },
  )

  it('from a timer after the layer returned does not call the provider', async () => {
    const late: Promise<unknown>[] = []
    const layer: Middleware = {
      name: 'timer',
      async model(_, next) {
        const response = await next()
        late.push(rest().then(() => failure(next())))
        return response
      },
    }
    const { model } = await turn(['one', 'never'], [layer])
    expect(await late[0]).toMatchObject({ code: 'layer.next_late' })
    expect(model.calls).toBe(1)
  })

  it('twice, swallowed by the layer itself, still runs the inside once', async () => {
    let inner = 0
    const layers: Middleware[] = [
      {
        name: 'twice',
        async turn(_, next) {
          await next()
          await next().catch(() => {})
        },
      },
      {
        name: 'inside',
        turn: (_, next) => {
          inner++
          return next()
        },
      },
    ]
    const { result, model } = await turn(['ok', 'never'], layers)
    expect([result?.text, inner, model.calls]).toEqual(['ok', 1, 1])
  })

  it('while running is refused even to a layer that re-enters', async () => {
    const refused: unknown[] = []
    const layer: Middleware = {
      name: 'parallel',
      reenters: true,
      async model(_, next) {
        const first = next()
        refused.push(await failure(next()))
        return first
      },
    }
    const { result } = await turn(['ok', 'never'], [layer])
    expect(refused).toMatchObject([{ code: 'layer.next_running' }])
    expect(result?.text).toBe('ok')
  })

  it('left floating by a layer that throws is not blamed: its own error goes on, and the provider is closed', async () => {
    const own = new Error('my own')
    const layer: Middleware = {
      name: 'thrower',
      async model(_, next) {
        void next()
        await null
        throw own
      },
    }
    const { error, model } = await turn([{ chunks: ['a'], stall: true }], [layer])
    await rest()
    expect(error).toBe(own)
    expect(model.closed).toBe(1)
  })
})
