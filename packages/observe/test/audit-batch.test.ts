import { Agent, AlliumError } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { Chain } from '../src/audit/chain.ts'
import { digestWith } from '../src/audit/seal.ts'
import { type AuditLine, type AuditSink, audit, verify } from '../src/index.ts'

/** A sink in which each write takes one turn of the event loop, as a slow store does. */
function slowSink(refuse: (records: readonly AuditLine[]) => readonly string[] = () => []) {
  const [lines, writes]: [string[], number[]] = [[], []]
  const sink: Required<AuditSink> = {
    append: async (line, key) => ((await sink.appendAll([{ line, key }])).length > 0 ? 'known' : undefined),
    async appendAll(records) {
      await new Promise(setImmediate)
      const known = refuse(records)
      if (known.length > 0) return known
      writes.push(records.length)
      lines.push(...records.map(({ line }) => line))
      return []
    },
    last: () => lines.at(-1),
  }
  return { sink, lines, writes }
}

async function runs(count: number, sink: AuditSink) {
  const agent = new Agent({ model: scriptedModel(Array(count).fill('Hello.')) }).use(audit({ sink }))
  return Promise.all(Array.from({ length: count }, () => agent.session().run('Hi')))
}

it('stores the records of 32 concurrent runs in as many writes as those of 8', async () => {
  const [few, many] = [slowSink(), slowSink()]
  await runs(8, few.sink)
  await runs(32, many.sink)
  expect(many.writes.length).toBeLessThanOrEqual(few.writes.length + 4)
  expect(await verify(many.lines)).toMatchObject({ ok: true, records: 32 * 4 })
})

it('stores the other records of a write in which the sink already has one', async () => {
  const known: string[] = []
  const { sink, lines } = slowSink((records) => {
    if (records.length > 1 && known.length === 0) known.push(records[1]?.key as string)
    return records.map(({ key }) => key).filter((key) => known.includes(key))
  })
  const ended = await runs(8, sink)
  expect(ended.every(({ status }) => status === 'completed')).toBe(true)
  expect(await verify(lines)).toMatchObject({ ok: true, records: 8 * 4 - 1 })
})

it('continues from the records of another process, which were written first', async () => {
  let conflicts = 0
  const { sink, lines } = slowSink((records) => {
    if (records.length > 1 && conflicts++ === 0) throw new AlliumError('store.conflict', 'Taken.')
    return []
  })
  await runs(8, sink)
  expect(conflicts).toBeGreaterThan(1)
  expect(lines.join()).not.toContain('"lost"')
  expect(await verify(lines)).toMatchObject({ ok: true, records: 8 * 4 })
})

it('stores a record that is added in the moment in which the queue became empty', async () => {
  const { sink, lines } = slowSink()
  const chain = new Chain(sink, digestWith(undefined))
  const add = (key: string) => chain.append({ key, fields: async () => ({ type: key }) }, (work) => work)
  await add('first')
  await add('second')
  expect(lines).toHaveLength(2)
})
