import { describe, expect, it } from 'vitest'
import { growth } from '../../testing/test/growth.ts'
import { fromJson, toJson } from '../src/index.ts'
import { failure } from './kit.ts'

const again = (value: unknown) => fromJson(toJson(value))

/** Reproducible numbers below `most`. */
function dice(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % most
  }
}

const leaves: readonly unknown[] = [
  0,
  -0,
  1.5e300,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  12345678901234567890n,
  -1n,
  true,
  null,
  '',
  'a',
  '\u0000 \ud83d "\\',
  '$bytes',
  '__proto__',
  new URL('https://example.org/?a=%20'),
  new Date(0),
  new Uint8Array([0, 255, 128]),
  new Uint8Array(),
]
const names = ['a', '', '$', '$$', '$bytes', '$$url', '$unknown', '__proto__', 'constructor', 'ü \u2028']

function anything(next: (most: number) => number, depth: number): unknown {
  const kind = depth === 0 ? 0 : next(6)
  const some = <T>(make: () => T) => Array.from({ length: next(4) }, make)
  if (kind === 1) return some(() => anything(next, depth - 1))
  if (kind === 2) return new Map(some(() => [anything(next, depth - 1), anything(next, depth - 1)]))
  if (kind === 3) return new Set(some(() => anything(next, depth - 1)))
  if (kind > 3) return Object.fromEntries(some(() => [names[next(names.length)], anything(next, depth - 1)]))
  return leaves[next(leaves.length)]
}

describe('toJson() and fromJson()', () => {
  it('give back every value that can be kept, whatever its keys are', () => {
    for (let seed = 0; seed < 500; seed++) {
      const value = anything(dice(seed), 4)
      expect(again(value), `seed ${seed}: ${toJson(value)}`).toEqual(value)
    }
  })

  it.each([
    '{"$bytes":{}}',
    '{"$bytes":"*"}',
    '{"$url":"no url"}',
    '{"$url":7}',
    '{"$date":"no date"}',
    '{"$date":5}',
    '{"$bigint":"0x10"}',
    '{"$bigint":" "}',
    `{"$bigint":"${'9'.repeat(100_001)}"}`,
    '{"$number":"12"}',
    '{"$map":{"length":1e9}}',
    '{"$map":[1]}',
    '{"$set":"abc"}',
    `${'[{"$set":'.repeat(2000)}[]${'}]'.repeat(2000)}`,
  ])('refuse %.40s, which toJson() never writes', async (text) => {
    expect(await failure(() => fromJson(text))).toMatchObject({ code: 'state.invalid' })
  })

  it('keep a nest of maps as deep as any value may be', () => {
    let nest: unknown = 1
    for (let i = 0; i < 499; i++) nest = new Map([[1, nest]])
    expect(toJson(again(nest))).toBe(toJson(nest))
  })

  it('let no text pose as a tag, and no key reach a prototype', () => {
    const posing = JSON.parse('{"$bytes":"AA==","__proto__":{"polluted":1}}')
    const one = { $date: 'x' }
    const read = again([posing, one, { $map: [1] }]) as Record<string, unknown>[]
    expect(read).toEqual([posing, one, { $map: [1] }])
    expect(['polluted' in {}, Object.getPrototypeOf(read[0]) === Object.prototype]).toEqual([false, true])
  })

  it('leave undefined fields out, and keep the place of an undefined item', () => {
    expect(again({ a: undefined, b: [undefined, 1] })).toEqual({ b: [null, 1] })
    expect(again(undefined)).toBe(null)
  })

  it('keep bytes of their own, also a part of a buffer', () => {
    const whole = new Uint8Array([1, 2, 3, 4])
    expect(again({ part: whole.subarray(1, 3), node: Buffer.from('hé') })).toEqual({
      part: new Uint8Array([2, 3]),
      node: new Uint8Array(Buffer.from('hé')),
    })
  })

  it.each([
    [() => {}, 'a function'],
    [Symbol('s'), 'symbol'],
    [new Error('secret text'), 'Error'],
    [new Float64Array(1), 'Float64Array'],
    [new Date(Number.NaN), 'an invalid date'],
    [/x/, 'RegExp'],
    [new (class Cart {})(), 'Cart'],
  ])('refuse %s, and name its place', async (value, word) => {
    const error = await failure(async () => toJson({ state: { list: [1, value] } }))
    expect([error.code, error.details]).toEqual(['state.invalid', { key: 'state.list.1' }])
    expect(error.message).toContain('"state.list.1"')
    expect(error.message.toLowerCase()).toContain(word.toLowerCase())
    expect(error.message).not.toContain('secret')
  })

  it('refuse what stands in itself, and what is too deep, without a crash', async () => {
    const ring: unknown[] = []
    ring.push({ ring })
    let deep: unknown = 0
    for (let i = 0; i < 100_000; i++) deep = [deep]
    const twice = { a: ring.length, b: [1] }
    expect((await failure(async () => toJson(ring))).message).toContain('contains itself')
    expect((await failure(async () => toJson(deep))).code).toBe('state.invalid')
    expect(again([twice, twice])).toEqual([twice, twice])
  })

  it('tell a text that was cut, and a tag that a newer version wrote', async () => {
    expect((await failure(async () => fromJson('{"a":'))).code).toBe('state.invalid')
    expect((await failure(async () => fromJson('[{"$decimal":"1"}]'))).message).toContain('"$decimal"')
  })

  it('write the reference that the caller gives in place of bytes, and read it with the value that it stands for', () => {
    const image = new Uint8Array([1, 2, 3])
    const text = toJson({ image, small: new Uint8Array(1) }, (value) => (value === image ? { id: 7 } : undefined))
    expect(text).toBe('{"image":{"$blob":{"id":7}},"small":{"$bytes":"AA=="}}')
    expect(fromJson(text, (reference) => [reference])).toEqual({ image: [{ id: 7 }], small: new Uint8Array(1) })
  })

  it('keep input that looks like a reference as data, and refuse a reference that nobody resolves', async () => {
    const posing = { $blob: { id: 7 } }
    expect(fromJson(toJson(posing), () => 'resolved')).toEqual(posing)
    expect((await failure(async () => fromJson('{"$blob":{"id":7}}'))).code).toBe('state.invalid')
  })

  it('write and read bytes in time that grows with their length, up to 8 MB', async () => {
    const copy = (megabytes: number) => {
      const bytes = new Uint8Array(megabytes << 20).map((_, i) => i % 251)
      expect(Buffer.compare(again(bytes) as Uint8Array, bytes)).toBe(0)
    }
    expect(await growth(copy, 1, 8, 24)).toBeLessThan(24)
  })

  it.each([0, 1, 2, 3, 12_287, 12_288, 12_289])('give back %i bytes', (size) => {
    const bytes = new Uint8Array(size).map((_, i) => (i * 7) % 256)
    expect(toJson(bytes)).toBe(`{"$bytes":"${Buffer.from(bytes).toString('base64')}"}`)
    expect(again(bytes)).toEqual(bytes)
  })
})
