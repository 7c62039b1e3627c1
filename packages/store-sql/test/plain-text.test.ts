import { toJson } from '@allium/core'
import { eventText } from '@allium/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJson } from '../src/plain-text.ts'

class Point {
  x = 1
}
const proxied = Object.assign([1], { toJSON: () => 'other' })
Object.setPrototypeOf(proxied, class extends Array {}.prototype)

describe('eventText()', () => {
  it('writes the same text as toJson() for any value', () => {
    const anything = fc.anything({
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: false,
      withBigInt: true,
    })
    const outcome = (write: (value: unknown) => string, value: unknown) => {
      try {
        return write(value)
      } catch (error) {
        return (error as { code?: unknown }).code
      }
    }
    fc.assert(
      fc.property(anything, (value) => outcome(eventText, value) === outcome(toJson, value)),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['a key that begins with $', { $bytes: 'AA==' }],
    ['a negative zero', [-0]],
    ['an infinite number', { n: Number.POSITIVE_INFINITY }],
    ['bytes', new Uint8Array([1])],
    ['a date', { at: new Date(0) }],
    ['an undefined item', [undefined]],
    ['a list with toJSON()', proxied],
  ])('leaves %s to toJson()', (_, value) => {
    expect([isJson(value, 0), eventText(value)]).toEqual([false, toJson(value)])
  })

  it.each([
    ['a class instance', new Point()],
    ['a function', { fn: () => {} }],
    [
      'a cycle',
      (() => {
        const a: unknown[] = []
        a.push(a)
        return a
      })(),
    ],
    ['a value 600 levels deep', Array.from({ length: 600 }).reduce<unknown>((inner) => [inner], 1)],
  ])('rejects %s as toJson() does', (_, value) => {
    expect(() => eventText(value)).toThrow(expect.objectContaining({ code: 'state.invalid' }))
  })
})
