import type { KeyValue } from '@allium/store'
import { check, checkEqual } from '../check.ts'
import { hostileNames } from '../hostile-names.ts'

/** The test bench of a case. `other` has the same values as another process sees them. */
export interface KeyValueBench {
  values: KeyValue
  other: KeyValue
  /** How long a value of a case lasts, in milliseconds. */
  ttl: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** Values that JSON supports and that careless stores change. */
const samples: readonly unknown[] = [
  'plain',
  '',
  'a\u0000b "👩‍👩‍👧" \u2028 \\',
  0,
  -1.5,
  9007199254740991,
  true,
  false,
  null,
  [],
  {},
  [null, [1, { a: [] }]],
  { toString: 'own', 'a.b': 1, $bytes: 'no bytes', nested: { list: ['x'.repeat(100_000)] } },
]

export const keyValueCaseList: Readonly<Record<string, (bench: KeyValueBench) => Promise<void>>> = {
  async 'returns the value that was set, and undefined for other keys'({ values, other }) {
    checkEqual(await values.get('none'), undefined, 'A key that was never set has no value')
    for (const [i, value] of samples.entries()) await values.set(`sample ${i}`, value)
    for (const [i, value] of samples.entries())
      for (const one of [values, other]) checkEqual(await one.get(`sample ${i}`), value, `get() returns sample ${i}`)
  },

  async 'replaces a value, and the time that it had'({ values, other, ttl, wait }) {
    await values.set('a', 'short', ttl)
    await other.set('a', 'long')
    await other.set('b', 'long')
    await values.set('b', 'short', ttl)
    checkEqual([await values.get('a'), await values.get('b')], ['long', 'short'], 'The last value wins')
    await wait(ttl * 1.5)
    checkEqual([await values.get('a'), await values.get('b')], ['long', undefined], 'and its time to live is replaced')
  },

  async 'keeps a value for its time to live, and no longer'({ values, other, ttl, wait }) {
    await values.set('short', 1, ttl)
    await values.set('long', 2, ttl * 100)
    await values.set('always', 3)
    const all = async (one: KeyValue) => [await one.get('short'), await one.get('long'), await one.get('always')]
    checkEqual(await all(other), [1, 2, 3], 'A value exists until it expires')
    await wait(ttl * 1.5)
    for (const one of [values, other])
      checkEqual(await all(one), [undefined, 2, 3], 'After that it is deleted, and others stay')
  },

  async 'deletes a key, and no other'({ values, other }) {
    await values.set('a', 1)
    await values.set('b', 2)
    await other.delete('a')
    await other.delete('a')
    await other.delete('none')
    checkEqual([await values.get('a'), await values.get('b')], [undefined, 2], 'A deleted value is gone, others stay')
    await values.set('a', 3)
    checkEqual(await other.get('a'), 3, 'It can be set again')
  },

  async 'keeps any two keys apart'({ values, other }) {
    for (const [i, name] of hostileNames.entries()) await values.set(name, i)
    for (const [i, name] of hostileNames.entries())
      checkEqual(await other.get(name), i, `${JSON.stringify(name)} has its own value`)
  },

  async 'keeps copies, and gives copies'({ values }) {
    const value = { list: [1] }
    const setting = values.set('a', value)
    value.list.push(2)
    await setting
    const kept = (await values.get('a')) as typeof value
    checkEqual(kept, { list: [1] }, 'The store has the argument of set()')
    kept.list.push(3)
    checkEqual(await values.get('a'), { list: [1] }, 'A reader cannot change a stored value')
  },

  async 'has a whole value of one of those who set at once'({ values, other }) {
    const whole = (i: number) => Array<number>(50).fill(i)
    await values.set('a', whole(-1))
    await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? values : other).set('a', whole(i), 60_000)))
    const [one, two] = [(await values.get('a')) as number[], await other.get('a')]
    checkEqual(one, whole(one?.[0] ?? -1), 'The value is one of those that were set')
    check(JSON.stringify(two) === JSON.stringify(one), 'All processes see the same value')
  },
}
