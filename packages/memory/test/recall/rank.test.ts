import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rank as ranked } from '../../src/recall/rank.ts'

const posting = (term: string, sessionId: string, position: number, count = 1) => ({ term, sessionId, position, count })
const rank = (...args: Parameters<typeof ranked>) => ranked(...args).map(({ place }) => place)
const keys = (places: readonly { sessionId: string; position: number }[]) =>
  places.map(({ sessionId, position }) => `${sessionId}${position}`)

describe('rank', () => {
  it('puts the message with the rare word before those with common ones', () => {
    const common = [0, 20, 40, 60].map((position) => posting('talk', 'a', position))
    expect(keys(rank([...common, posting('zebra', 'a', 80)], 1_000))[0]).toBe('a80')
  })

  it('counts the words of nearby messages less with the distance, and more for the message behind than the one before', () => {
    const order = keys(rank([posting('zebra', 'a', 10)], 1_000))
    expect(order).toEqual(['a10', 'a11', 'a9', 'a12', 'a8', 'a13', 'a7', 'a14', 'a6'])
  })

  it('never counts a message for another session, and has no positions before the first', () => {
    expect(keys(rank([posting('zebra', 'a', 0)], 1_000))).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  })

  it('puts the answer before its question if both have words that are asked for', () => {
    const places = rank([posting('where', 'a', 4), posting('oslo', 'a', 5), posting('where', 'b', 4)], 1_000)
    expect(keys(places).slice(0, 2).sort()).toEqual(['a4', 'a5'])
  })

  it('counts words that all messages have, and prefers the message with more of the words', () => {
    const both = [posting('hotel', 'a', 0), posting('hotel', 'b', 0)]
    expect(keys(rank([posting('costs', 'a', 0), ...both], 2))[0]).toBe('a0')
    expect(keys(rank([...both, posting('bern', 'b', 0)], 2))[0]).toBe('b0')
    expect(keys(rank([...both, posting('bern', 'b', 0), posting('costs', 'b', 0)], 9))[0]).toBe('b0')
  })

  it('returns each place once, best first, for any postings and any total', () => {
    const one = fc.record({
      term: fc.constantFrom('a', 'b', 'c'),
      sessionId: fc.constantFrom('x', 'y', '__proto__'),
      position: fc.nat(30),
      count: fc.integer({ min: 1, max: 255 }),
    })
    fc.assert(
      fc.property(fc.array(one), fc.nat(50), (postings, total) => {
        const places = rank(postings, total)
        expect(new Set(keys(places)).size).toBe(places.length)
        const scores = ranked(postings, total).map(({ score }) => score)
        expect(scores).toEqual(scores.toSorted((a, b) => b - a))
        expect(rank(postings, total)).toEqual(places)
      }),
    )
  })
})
