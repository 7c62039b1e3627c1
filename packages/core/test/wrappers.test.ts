import { describe, expect, it } from 'vitest'
import { compose } from '../src/index.ts'
import { around } from '../src/onion/compose.ts'
import { failure } from './kit.ts'

const until = <T>(work: Promise<T>) => work
const core = async () => 'core'

describe('wrappers around a core', () => {
  it('run from the outermost inward, and the result is that of the core', async () => {
    const order: string[] = []
    const wrapper = (name: string) => async (_: object, next: () => Promise<string>) => {
      order.push(name)
      await next()
      return 'another'
    }
    expect(await around([wrapper('a'), wrapper('b')], {}, core, { until })).toBe('core')
    expect(order).toEqual(['a', 'b'])
  })

  it('that do not call next() are an error that names them', async () => {
    async function first(_: object, next: () => Promise<string>) {
      return next()
    }
    async function lazy() {
      return 'mine'
    }
    const error = await failure(around([first, lazy], {}, core, { until }))
    expect([error.code, error.message]).toEqual([
      'layer.no_next',
      'A wrapper of first,lazy did not call next(). Write "return next()".',
    ])
  })

  it('may answer instead, where that is allowed, with anything but undefined', async () => {
    const options = { until, mayAnswer: true }
    expect(await around([async () => 'mine'], {}, core, options)).toBe('mine')
    expect((await failure(around([async () => undefined as never], {}, core, options))).code).toBe('layer.no_next')
  })
})

it.each([
  ['layer.next_twice', async (_: object, next: () => Promise<unknown>) => [await next(), await next()]],
  ['layer.floating_next', async (_: object, next: () => Promise<unknown>) => void next()],
])('compose() tells the layer of %s in the details of the error', async (code, layer) => {
  const wait = () => new Promise((resolve) => setImmediate(resolve))
  const error = await failure(compose([layer as never])({}, wait as never))
  expect([error.code, error.details]).toEqual([code, { layer: layer.name === '' ? 'layer#1' : `"${layer.name}"` }])
})
