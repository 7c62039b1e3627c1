import type { KeyValue } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { keyValueCases, keyValueConformance } from '../../src/index.ts'
import { expectToFail } from './expect-to-fail.ts'
import { memoryValues } from './memory-values.ts'

keyValueConformance({ name: 'values in memory', makeKeyValue: ({ clock }) => memoryValues(clock), describe, it })

type Values = ReturnType<typeof memoryValues>
type Breaks = (values: Values) => Partial<KeyValue>

/** Each fault that a store of values may have, and the case that must find it. */
const faults: [fault: string, breaks: Breaks, found: string][] = [
  [
    'gives null for nothing',
    (values) => ({ get: async (key) => (await values.get(key)) ?? null }),
    'returns the value that was set, and undefined for other keys',
  ],
  [
    'keeps numbers as texts',
    (values) => ({ set: (key, value, ttl) => values.set(key, typeof value === 'number' ? `${value}` : value, ttl) }),
    'returns the value that was set, and undefined for other keys',
  ],
  [
    'keeps the first value',
    (values) => ({ set: async (key, value, ttl) => (await values.get(key)) ?? values.set(key, value, ttl) }),
    'replaces a value, and the time that it had',
  ],
  [
    'keeps the first time',
    (values) => {
      const times = new Map<string, number | undefined>()
      return {
        set(key, value, ttl) {
          if (!times.has(key)) times.set(key, ttl)
          return values.set(key, value, times.get(key))
        },
      }
    },
    'replaces a value, and the time that it had',
  ],
  [
    'forgets nothing',
    (values) => ({ set: (key, value) => values.set(key, value) }),
    'keeps a value for its time to live, and no longer',
  ],
  [
    'takes milliseconds for seconds',
    (values) => ({ set: (key, value, ttl) => values.set(key, value, ttl && ttl / 1000) }),
    'keeps a value for its time to live, and no longer',
  ],
  ['deletes nothing', () => ({ delete: async () => {} }), 'deletes a key, and no other'],
  [
    'deletes all',
    (values) => ({ delete: () => Promise.all(values.keys().map((key) => values.delete(key))) }),
    'deletes a key, and no other',
  ],
  [
    'ignores case',
    (values) => ({
      get: (key) => values.get(key.toLowerCase()),
      set: (key, value, ttl) => values.set(key.toLowerCase(), value, ttl),
    }),
    'keeps any two keys apart',
  ],
  [
    'copies late',
    (values) => ({
      set: async (key, value, ttl) => {
        await undefined
        return values.set(key, value, ttl)
      },
    }),
    'keeps copies, and gives copies',
  ],
  [
    'gives all the same value',
    (values) => {
      const known = new Map<string, unknown>()
      return {
        async get(key) {
          if (!known.has(key)) known.set(key, await values.get(key))
          return known.get(key)
        },
      }
    },
    'keeps copies, and gives copies',
  ],
  [
    'mixes those who set at once',
    (values) => ({
      async set(key, value, ttl) {
        const before = (await values.get(key)) as unknown[] | undefined
        await values.set(key, before === undefined ? value : [before[0], ...(value as unknown[]).slice(1)], ttl)
      },
    }),
    'has a whole value of one of those who set at once',
  ],
]

describe('the suite of values finds a store that', () => {
  const cases = (breaks: Breaks) =>
    keyValueCases(({ clock }) => {
      const values = memoryValues(clock)
      return { ...values, ...breaks(values) }
    })

  it.each(faults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = faults.map(([, , name]) => name)
    const all = cases(() => ({})).map(({ name }) => name)
    expect(all.filter((name) => !found.includes(name))).toEqual([])
  })
})
