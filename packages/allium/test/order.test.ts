import type { AnyMiddleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { Agent, guard, model, observe, tools } from '../src/index.ts'
import { scriptedModel } from '../src/testing.ts'

/** Every layer of the packs, in the recommended order. */
const layers = (): AnyMiddleware[] => [
  observe.onion(),
  observe.console({ write: () => {} }),
  model.retry(),
  guard.budget({ limit: 1 }),
  observe.usage(),
  tools.function({ name: 'add', description: 'Adds', jsonSchema: { type: 'object' }, execute: () => 'added' }),
]

describe('the order of the packs’ layers', () => {
  it('is declared by every layer that has hooks', () => {
    for (const { name, order, tools } of layers()) if (tools === undefined) expect(order?.is, name).toHaveLength(1)
  })

  it('is right as recommended', () => {
    expect(check(layers())).toEqual([])
  })

  it('is right in any other order too: the meters stand right around the provider, and the rest do not mind', () => {
    for (const [i] of layers().entries()) {
      const turned = [...layers().slice(i), ...layers().slice(0, i)]
      expect(check(turned)).toEqual([])
      expect(check(turned.reverse())).toEqual([])
    }
  })

  it.each<[string, AnyMiddleware, AnyMiddleware, 'error' | 'warn']>([
    ['a meter outside model.retry', model.retry(), own('my-meter', 'meters'), 'error'],
    ['observe.console outside what redacts', own('my-pii', 'redacts'), observe.console(), 'error'],
    ['what blocks inside model.retry', own('my-judge', 'blocks'), model.retry(), 'warn'],
  ])('is wrong for %s, and the finding names both', (_, outer, inner, severity) => {
    expect(check([outer, inner])).toEqual([])
    expect(check([inner, outer])).toMatchObject([{ severity, layers: [outer.name, inner.name] }])
  })

  it.each([guard.budget({ limit: 1 }), observe.usage()])(
    'leaves $name inside a cache, wherever it is registered',
    (meter) => {
      const cache = own('my-cache', 'caches')
      expect(check([meter, cache])).toEqual([])
      expect(check([cache, meter])).toEqual([])
    },
  )

  it('lets observe.onion stand outside what redacts: it keeps no prompts and no answers', () => {
    expect(check([observe.onion(), own('my-pii', 'redacts')])).toEqual([])
  })
})

function check(layers: AnyMiddleware[]) {
  return new Agent({ model: scriptedModel([]), orderCheck: 'off' }).use(layers).check()
}

/** A layer of an application. */
function own(name: string, is: string): AnyMiddleware {
  return { name, order: { is: [is] }, model: (_, next) => next() }
}
