import { type Middleware, sessionKeyOf } from '@allium/core'
import type { SessionPlace } from '@allium/core/internal'
import { describe, expect, it } from 'vitest'
import { build, failure, oneCall, scopes, tool, turn } from '../../core/test/kit.ts'
import { type AnyContext, canary, when } from '../src/index.ts'
import { everywhere, last, life } from './combinators-kit.ts'

describe('when', () => {
  it('is asked at each entry, in each scope that the layer hooks, with the context and the scope', async () => {
    const asked: string[] = []
    const ask = (ctx: AnyContext, scope: string) => asked.push(`${scope} ${ctx.sessionId} ${ctx.tool?.name}`) > 0
    await life([
      when(
        ask,
        everywhere(() => {}),
      ),
    ])
    expect(asked).toEqual([
      'agent undefined undefined',
      'session s undefined',
      'turn s undefined',
      'model s undefined',
      'tool s work',
      'model s undefined',
    ])
  })

  it('runs the layer for some calls and not for others', async () => {
    const seen: unknown[] = []
    const layer = when(
      ({ tool }) => tool?.name !== 'safe',
      everywhere((_, ctx) => seen.push(ctx.tool), {
        turn: undefined,
        model: undefined,
        agent: undefined,
        session: undefined,
      }),
    )
    const both = [{ toolCalls: [{ name: 'safe' }, { name: 'risky' }] }, 'done']
    await turn(both, [layer], { tools: [tool('safe'), tool('risky')] })
    expect(seen).toMatchObject([{ name: 'risky' }])
  })

  it.each(scopes)('fails closed in the %s scope when the predicate throws, and names the layer', async (scope) => {
    for (const broken of [() => fail(), async () => fail()]) {
      const ran: string[] = []
      const predicate = (_: unknown, asked: string) => asked !== scope || broken()
      const { opening, error = opening } = await life([
        when(
          predicate,
          everywhere((at) => ran.push(at)),
        ),
      ])
      expect(error).toMatchObject({ code: 'layer.condition', cause: { message: 'no such field' } })
      expect(error?.message).toContain(`when() around the layer "layer" threw in the ${scope} scope: no such field`)
      expect(ran).not.toContain(scope)
    }
  })

  it('lets a predicate block the turn', async () => {
    const layer = when(
      (ctx) => ctx.block?.('closed for today'),
      everywhere(() => {}, { agent: undefined, session: undefined }),
    )
    expect((await turn(['never'], [layer])).result).toMatchObject({ status: 'blocked', reason: 'closed for today' })
  })

  it('refuses a predicate that is no function', async () => {
    expect(await failure(() => when(true as never, []))).toMatchObject({ code: 'layer.config' })
  })
})

describe('canary', () => {
  const chosen = async (percent: number, keys: readonly string[], as = 'new') => {
    const seen: string[] = []
    const layer: Middleware = { name: as, turn: (ctx, next) => last(seen.push(ctx.principal.userId), next()) }
    const { agent } = build(new Array(keys.length).fill('ok'), [canary(layer, { percent })])
    for (const userId of keys) await agent.run('hi', { session: { principal: { userId } } })
    return seen
  }
  const users = Array.from({ length: 400 }, (_, i) => `user-${i}`)

  it('runs the layer for about the share that was asked for, the same each time', async () => {
    const some = await chosen(25, users)
    expect(some.length).toBeGreaterThan(70)
    expect(some.length).toBeLessThan(130)
    expect(await chosen(25, users)).toEqual(some)
  })

  it('keeps those of a smaller share, and chooses anew for another layer', async () => {
    const few = await chosen(5, users)
    expect(await chosen(25, users)).toEqual(expect.arrayContaining(few))
    expect(await chosen(5, users, 'other')).not.toEqual(few)
  })

  it('decides once for all hooks of a session: by its user, its own key, or its id', async () => {
    const share = async (options: Parameters<typeof canary>[1], of: object) => {
      const ran: string[] = []
      await life(
        [
          canary(
            everywhere((scope) => ran.push(scope)),
            options,
          ),
        ],
        { of },
      )
      return ran.length
    }
    for (let i = 0; i < 20; i++) {
      const own = await share({ percent: 50, per: async (ctx) => sessionKeyOf(ctx as SessionPlace) }, { id: `s${i}` })
      expect([1, 6]).toContain(own)
      expect(await share({ percent: 50 }, { id: `s${i}` })).toBe(own)
      const user = { percent: 50, per: () => 'someone' }
      expect(await share(user, { id: `s${i}` })).toBe(await share(user, { id: 'other' }))
    }
  })

  it('opens its agent hooks, which belong to nobody, unless nobody can be chosen', async () => {
    const opened: number[] = []
    for (const percent of [0, 0.001])
      await life([
        canary(
          everywhere((scope) => scope === 'agent' && opened.push(percent)),
          { percent, per: () => 'nobody' },
        ),
      ])
    expect(opened).toEqual([0.001])
  })

  it('fails closed when its key throws', async () => {
    const layer = everywhere(() => {})
    const { opening } = await life([canary(layer, { percent: 50, per: () => fail() })])
    expect(opening).toMatchObject({ code: 'layer.condition', message: expect.stringContaining('canary() around') })
  })

  it.each([-1, 101, Number.NaN, '5', undefined])('refuses %s percent', async (percent) => {
    expect(await failure(() => canary([], { percent: percent as number }))).toMatchObject({ code: 'layer.config' })
  })

  it('runs the layer in a turn that calls tools as often as alone', async () => {
    const ran: string[] = []
    await turn(
      oneCall,
      [
        canary(
          everywhere((scope) => ran.push(scope)),
          { percent: 99.999 },
        ),
      ],
      { tools: [tool('work')] },
    )
    expect(ran).toEqual(['agent', 'session', 'turn', 'model', 'tool', 'model'])
  })
})

function fail(): never {
  throw new TypeError('no such field')
}
