import { AlliumError } from '@allium/core'
import { expect, test } from 'vitest'
import { type EventTable, polledEventLog, type RunHead, Sealer } from '../src/index.ts'

const run = (turnId: string) => ({ key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' }, turnId })

/** A table that is nowhere: it counts what it is asked. */
function counted() {
  const asked = { heads: 0, batches: 0 }
  const rows = new Map<string, { head: RunHead; batches: Awaited<ReturnType<EventTable['batches']>> }>()
  const rowOf = (id: string) =>
    rows.get(id) ?? { head: { seq: 0, ended: false, lastSignal: 0, listener: 0 }, batches: [] }
  const never = () => Promise.reject(new AlliumError('store.unavailable', 'Not asked here.'))
  const table: EventTable = {
    async append({ turnId }, _, batch, { end: ended }) {
      const { head, batches } = rowOf(turnId)
      const seq = head.seq + (batch?.count ?? 0)
      const all = batch === undefined ? batches : [...batches, { ...batch, first: head.seq + 1 }]
      rows.set(turnId, { head: { ...head, seq, ended }, batches: all })
      return { seq }
    },
    async heads(runs) {
      asked.heads += runs.length
      return runs.map(({ turnId }) => rows.get(turnId)?.head)
    },
    async batches({ turnId }, after) {
      asked.batches++
      return rowOf(turnId).batches.filter(({ first, count }) => first + count - 1 > after)
    },
    latest: never,
    addSignal: never,
    listen: never,
    signals: never,
    acknowledgeAtEnd: never,
    acknowledge: never,
    delete: never,
  }
  return { table, asked }
}

test('what a process appends reaches its own readers without a question, however many runs are read', async () => {
  const { table, asked } = counted()
  const log = polledEventLog(table, new Sealer(undefined), { after: () => () => {} })
  const runs = Array.from({ length: 20 }, (_, at) => run(`${at}`))
  for (const one of runs) await log.append(one, 1, ['first'])
  const read = runs.map(async (one) => {
    const seen: unknown[] = []
    for await (const { event } of log.read(one, 0)) seen.push(event)
    return seen
  })
  for (let at = 0; at < 10; at++) for (const one of runs) await log.append(one, 1, [at])
  for (const one of runs) await log.append(one, 1, [], { end: true })
  for (const seen of await Promise.all(read)) expect(seen).toEqual(['first', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect([asked.heads, asked.batches]).toEqual([0, expect.toSatisfy((count: number) => count <= 60)])
})

test('a run whose appends tell its last signal is not looked at besides, and its listener hears what they tell', async () => {
  const { table, asked } = counted()
  let signals = 0
  let look = () => {}
  const told: EventTable = {
    ...table,
    heads: async (runs) =>
      (await table.heads(runs)).map((head) => head && { ...head, lastSignal: signals, listener: 1 }),
    append: async (...of) => ({ seq: 0, ...(await table.append(...of)), lastSignal: signals, listener: 1 }),
    listen: async () => 1,
    signals: async () => [{ n: 1, id: null, body: null }],
    acknowledge: async () => {},
  }
  const after = (_: number, fn: () => void) => {
    look = fn
    return () => {}
  }
  const log = polledEventLog(told, new Sealer(undefined), { after })
  const heard: unknown[] = []
  await log.append(run('one'), 1, [])
  await log.onSignal(run('one'), (signal) => void heard.push(signal))
  const before = asked.heads
  await log.append(run('one'), 1, ['first'])
  look()
  expect([asked.heads - before, heard]).toEqual([0, []])
  signals = 1
  await log.append(run('one'), 1, ['second'])
  await expect.poll(() => heard).toEqual([{ stop: true }])
  expect(asked.heads - before).toBe(0)
})

test('a batch leaves out the ids of its run, and comes back as it was appended', async () => {
  const { table } = counted()
  const bodies: string[] = []
  const append: EventTable['append'] = (of, epoch, batch, options) => {
    bodies.push(Buffer.from(batch?.body ?? []).toString())
    return table.append(of, epoch, batch, options)
  }
  const log = polledEventLog({ ...table, append }, new Sealer())
  const own = { type: 'step:end', sessionId: 'a', turnId: 'own-run', stepIndex: 0 }
  const events = [{ event: own }, { event: { ...own, turnId: 'inner' } }, { event: own, client: true }, 'text', null]
  const odd = [{ event: null }, { event: 'text' }, ['r', own], { event: { type: 'text-delta' } }, {}]
  await log.append(run('own-run'), 1, [...events, ...odd], { end: true })
  expect(bodies[0]?.match(/own-run/g)).toHaveLength(2)
  const read: unknown[] = []
  for await (const { event } of log.read(run('own-run'), 0)) read.push(event)
  expect(read).toEqual([...events, ...odd])
})
