import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinedOrder, placeName } from '../../src/embed/joined-order.ts'
import { cosine, toBytes } from '../../src/embed/vector.ts'

const exact = (a: readonly number[], b: readonly number[]) => {
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, n, i) => sum + n * (y[i] as number), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('The bytes of a vector', () => {
  it('keep its direction: a cosine differs by less than a hundredth', () => {
    const vector = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 })
    fc.assert(
      fc.property(vector, vector, (a, b) => {
        fc.pre([a, b].every((one) => Math.max(...one.map(Math.abs)) > 1e-100))
        expect(Math.abs(cosine(toBytes(a), toBytes(b)) - exact(a, b))).toBeLessThan(0.01)
      }),
    )
  })

  it('have no direction for a vector of zeros, and fit nothing then', () => {
    expect(cosine(toBytes([0, 0]), toBytes([1, 2]))).toBe(0)
  })
})

describe('The order by words and vectors', () => {
  const ranked = [4, 2, 2, 1].map((score, position) => ({ place: { sessionId: 's', position }, score }))
  const vectors = (...of: (number[] | undefined)[]) =>
    new Map(ranked.flatMap(({ place }, i) => (of[i] ? [[placeName(place), toBytes(of[i])] as const] : [])))
  const order = (...of: (number[] | undefined)[]) =>
    joinedOrder(ranked, toBytes([1, 0]), vectors(...of)).map(({ position }) => position)

  it('adds the share of the score to that of the similarity', () => {
    expect(order([0, 1], [1, 0], [1, 1], [1, 2])).toEqual([1, 2, 0, 3])
    expect(order([1, 1], [1, 1], [1, 0], [0, 1])).toEqual([0, 2, 1, 3])
  })

  it('keeps the order of the words for equal vectors, for missing ones, and for those of another length', () => {
    expect(order([1, 1], [1, 1], [1, 1], [1, 1])).toEqual([0, 1, 2, 3])
    expect(order()).toEqual([0, 1, 2, 3])
    expect(order(undefined, [1], [1, 0, 0], [1, 0, 1])).toEqual([0, 1, 2, 3])
  })
})
