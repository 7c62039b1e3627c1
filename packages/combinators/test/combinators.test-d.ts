// Compiled, never run: a combined layer is typed as the layer itself.

import { Agent, defineMiddleware, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { z } from 'zod'
import { canary, failClosed, failOpen, limitTime, shadow, when } from '../src/index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [error: 'the types differ', A, B]): void

const model = scriptedModel([])
const budget = defineMiddleware({
  name: 'budget',
  state: { 'budget:spent': { default: 0, reducer: (spent, delta: number) => spent + delta } },
  model: (_, next) => next(),
})
const user = defineMiddleware({ name: 'user', state: { user: { default: null as string | null } } })
const configured = defineMiddleware({ name: 'configured', config: z.object({ limit: z.number() }) })
const loose: Middleware = { name: 'loose', state: { 'loose:n': { default: 0 } } }

// State is inferred through each combinator, alone and nested.
export async function combined() {
  const { state } = await new Agent({ model })
    .use(when(() => true, defineMiddleware({ name: 'a', state: { a: { default: 0 } } })))
    .use(limitTime(defineMiddleware({ name: 'b', state: { b: { default: '' } } }), 10))
    .use(failOpen(defineMiddleware({ name: 'c', state: { c: { default: true } } })))
    .use(failClosed(defineMiddleware({ name: 'd', state: { d: { default: 1n } } }), { reason: 'no' }))
    .use(
      shadow(defineMiddleware({ name: 'e', state: { e: { default: [] as string[] } } }), {
        onDecision: ({ decision }) => decision,
      }),
    )
    .use(
      canary(
        when((ctx) => ctx.sessionId, failOpen(limitTime(budget, 10))),
        { percent: 5, per: ({ principal }) => principal.id },
      ),
    )
    .use(user)
    .run('hi')
  same<number, typeof state.a>()
  same<string, typeof state.b>()
  same<boolean, typeof state.c>()
  same<bigint, typeof state.d>()
  same<string[], typeof state.e>()
  same<number, (typeof state)['budget:spent']>()
  same<string | null, typeof state.user>()
  // @ts-expect-error nobody declares this key
  state.f
}

// In every form: a list, what converts, an object on the spot, a function, a loose layer.
export async function forms() {
  const { state } = await new Agent({ model })
    .use(failOpen([budget, user]))
    .use(failOpen({ toMiddleware: () => defineMiddleware({ name: 'made', state: { made: { default: 1n } } }) }))
    .use(when(() => true, { name: 'spot', state: { spot: { default: 0 } }, turn: (_, next) => next() }))
    .use(
      failOpen((ctx, next) => {
        ctx.stop('enough')
        return next()
      }),
    )
    .use(failOpen(loose))
    .run('hi')
  same<number, (typeof state)['budget:spent']>()
  same<string | null, typeof state.user>()
  same<bigint, typeof state.made>()
  same<number, typeof state.spot>()
  // @ts-expect-error a loose layer adds no type
  state['loose:n']
}

// What a layer has beyond its hooks stays.
export const onion = failOpen(Object.assign(user, { timeline: (turnId: string) => turnId.length }))
same<number, ReturnType<typeof onion.timeline>>()

// Config stays typed.
new Agent({ model }).use(
  when(() => true, configured),
  { limit: 1 },
)
// @ts-expect-error the config is missing
new Agent({ model }).use(when(() => true, configured))
// @ts-expect-error the config is of another type
new Agent({ model }).use(shadow(configured), { limit: 'ten' })

// A predicate must reckon with the scopes: what one lacks may be undefined.
when((ctx) => ctx.tool?.name === 'refund' && ctx.principal.role === 'admin', user)
// @ts-expect-error there is no tool outside of tool hooks
when((ctx) => ctx.tool.name === 'refund', user)
when((_, scope) => scope === 'tool', user)
// @ts-expect-error there is no such scope
when((_, scope) => scope === 'loop', user)

// Mistakes that must not compile.
// @ts-expect-error a layer object needs a name
failOpen({ turn: (_: unknown, next: () => Promise<void>) => next() })
// @ts-expect-error the milliseconds are missing
limitTime(user)
// @ts-expect-error the share is missing
canary(user, {})
// @ts-expect-error the predicate comes first
when(user, () => true)
// @ts-expect-error no layer
shadow(7)

// What combinators tell observers is typed.
new Agent({ model })
  .on('shadow:decision', ({ layer, decision, changes }) => {
    same<string, typeof layer>()
    same<readonly string[], typeof changes>()
    // @ts-expect-error there is no such decision
    decision === 'maybe'
  })
  .on('layer:failed', ({ handled }) => same<'open' | 'closed', typeof handled>())
