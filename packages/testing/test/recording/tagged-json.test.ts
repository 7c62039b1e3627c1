import { fromJson, mapTexts, toJson } from '@allium/shared/recording'
import { describe, expect, it } from 'vitest'

class Point {
  constructor(readonly x: number) {}
}

describe('what a cassette keeps of a value', () => {
  it('is what stores keep: dates, maps, sets and numbers that JSON has not come back as such', () => {
    const value = {
      at: new Date(0),
      map: new Map([['k', new Set([1n])]]),
      numbers: [Number.NaN, -0, Number.NEGATIVE_INFINITY],
      $own: { $bytes: 'not bytes' },
      url: new URL('https://acme.test/a'),
    }
    expect(fromJson(JSON.parse(JSON.stringify(toJson(value))))).toEqual(value)
  })

  it('leaves out functions, and takes the fields of an object of a class', () => {
    expect(fromJson(toJson({ point: new Point(1), fn: () => 1, error: { toJSON: () => 'told' } }))).toEqual({
      point: { x: 1 },
      error: 'told',
    })
  })

  it('may have its texts changed: what is no URL or date any more is a text', () => {
    const value = {
      url: new URL('https://acme.test/key'),
      at: new Date(0),
      other: new URL('https://key.test/'),
      $key: 'key',
    }
    const hide = (text: string) => text.replaceAll('key', 'x').replace(/^1970.*/, '(date)')
    expect(fromJson(mapTexts(toJson(value), hide))).toEqual({
      url: new URL('https://acme.test/x'),
      at: '(date)',
      other: new URL('https://x.test/'),
      $x: 'x',
    })
    expect(fromJson(mapTexts(toJson(new URL('https://acme.test/')), () => '[host]'))).toBe('[host]')
  })
})
