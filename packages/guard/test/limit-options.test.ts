import { readdirSync, readFileSync } from 'node:fs'
import { expect, expectTypeOf, it } from 'vitest'
import * as guard from '../src/index.ts'

const { budget, concurrency, maxModelCalls, maxToolCalls, rateLimit, timeout } = guard
const folder = new URL('../src/limits/', import.meta.url)
const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'limit-options.ts')
const filesWith = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(new URL(file, folder), 'utf8')))

it('an option that limit-options.ts adds reaches every limit', () => {
  const layers = filesWith(/defineMiddleware[<(]/)
  expect(layers).toHaveLength(6)
  expect([filesWith(/ = limitOptions<\w+>\('guard:/), filesWith(/layerOptions/)]).toEqual([layers, []])
  type Limit =
    | typeof budget
    | typeof concurrency
    | typeof maxModelCalls
    | typeof maxToolCalls
    | typeof rateLimit
    | typeof timeout
  expectTypeOf<Parameters<Limit>[0]>().toExtend<guard.LimitOptions>()
})

it.for([
  ['guard:budget', budget, { limit: 1 }],
  ['guard:concurrency', concurrency, { limit: 1 }],
  ['guard:maxModelCalls', maxModelCalls, { limit: 1 }],
  ['guard:maxToolCalls', maxToolCalls, { limit: 1 }],
  ['guard:rateLimit', rateLimit, { limit: 1 }],
  ['guard:timeout', timeout, { turn: 1 }],
] as const)('%s has its own name unless it gets another one', ([name, limit, options]) => {
  const make = limit as unknown as (options: object) => { name?: string }
  expect([make(options).name, make({ ...options, as: undefined }).name, make({ ...options, as: 'mine' }).name]).toEqual(
    [name, name, 'mine'],
  )
  expect(() => make({ ...options, ass: 'mine' })).toThrow(`"${name}" does not know the option ass`)
})
