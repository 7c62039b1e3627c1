import type { StoredRecord, StoredTurn } from '@allium/core'
import type { OutboxRecord } from '@allium/store'
import { check, checkEqual } from '../check.ts'
import { acquireLease, add, chat, runningTurn, type StoreBench, type StoreCases, turnOf } from './bench.ts'

/** Long enough to keep a claimed record out of the way. */
const hour = 3_600_000

/** Cases: records of runs are delivered at least once. */
export const outboxCases: StoreCases = {
  async 'gives records once their run is appended, the oldest first, and not before'(bench) {
    const { store, other, lease: ms, wait } = bench
    const [one, two] = [recording('one', 0, 2), recording('two', 2, 1)]
    const lease = await acquireLease(store, chat, ms * 100)
    await store.checkpoint(lease, 0, runningTurn('one', 0, { records: one.records }))
    await store.append(lease, 1, recording('refused', 0, 1)).catch(() => {})
    checkEqual(await other.outbox.claim('bills', 10, hour), [], 'The outbox is empty during a run')
    await store.append(lease, 0, one)
    await wait(ms / 10)
    await store.append(lease, 1, two, { release: true })
    await wait(ms / 10)
    const globex = { ...chat, tenant: 'globex' }
    await add(bench, globex, recording('far', 0, 1))
    checkEqual(
      await other.outbox.claim('bills', 10, hour),
      [...sent(one), ...sent(two), ...sent(recording('far', 0, 1), 'globex')],
      'take() gives the records of all tenants in the order of their runs',
    )
  },

  async 'gives the records of a run once, though it was appended twice'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms * 100)
    const turn = recording('one', 0, 2)
    await store.append(lease, 0, turn)
    await other.append(lease, 0, turn)
    await other.append(lease, 1, turn, { release: true })
    checkEqual(await idsOf(other, 'bills'), ['one-0', 'one-1'], 'A run that is appended again adds no records')
    await other.outbox.done('bills', ['one-0', 'one-1'])
    await store.append(lease, 0, turn)
    checkEqual(await idsOf(other, 'bills'), [], 'nor does it bring back those that are done')
  },

  async 'gives each consumer all records, but for those that it has done'(bench) {
    const { store, other, lease: ms, wait } = bench
    await add(bench, chat, recording('one', 0, 2))
    checkEqual(await idsOf(store, 'bills', ms), ['one-0', 'one-1'], 'A consumer gets all')
    await store.outbox.done('bills', ['one-0', 'one-0', 'unknown'])
    await store.outbox.done('bills', [])
    checkEqual(
      await idsOf(other, 'hooks', ms),
      ['one-0', 'one-1'],
      'Records claimed or done by one consumer are there for another',
    )
    await wait(ms * 2)
    checkEqual(await idsOf(other, 'bills'), ['one-1'], 'Completed records are not delivered again')
    checkEqual(await idsOf(store, 'hooks', ms), ['one-0', 'one-1'], 'Another consumer has its own position')
    await wait(ms * 2)
    await other.outbox.done('hooks', ['one-1'])
    checkEqual(await idsOf(store, 'hooks'), ['one-0'], 'A record can be completed after its lease expired')
  },

  async 'hides claimed records for their lease, and delivers them again if they are not done by then'(bench) {
    const { store, other, lease: ms, wait } = bench
    await add(bench, chat, recording('one', 0, 1))
    checkEqual(await idsOf(store, 'bills', ms * 10), ['one-0'], 'take() gives a record')
    checkEqual(await idsOf(other, 'bills', ms * 10), [], 'and to no other consumer during the lease')
    await add(bench, chat, recording('two', 2, 1))
    checkEqual(await idsOf(other, 'bills', hour), ['two-0'], 'Newer records can be claimed')
    await wait(ms * 12)
    checkEqual(await idsOf(store, 'bills', ms), ['one-0'], 'Records that were not done in time are delivered again')
    await wait(ms * 2)
    checkEqual(await idsOf(other, 'bills'), ['one-0'], 'and again')
  },

  async 'gives each record to one of many concurrent consumers, up to the requested number'(bench) {
    const { store, other } = bench
    await add(bench, chat, recording('one', 0, 30))
    const taken = await Promise.all([store, other, store, other].map((one) => one.outbox.claim('bills', 7, hour)))
    const ids = taken.flat().map(({ id }) => id)
    check(
      taken.every((records) => records.length <= 7),
      'claim() returns at most the requested number of records',
    )
    checkEqual(new Set(ids).size, ids.length, 'Concurrent consumers never get the same record')
    const rest = await idsOf(other, 'bills')
    const all = turnRecords('one', 30).map(({ id }) => id)
    checkEqual([...ids, ...rest].toSorted(), all.toSorted(), 'and no record is lost')
  },
}

/** Returns a run with records. */
function recording(text: string, from: number, count: number): StoredTurn {
  return { ...turnOf(text, from), records: turnRecords(text, count) }
}

function turnRecords(text: string, count: number): StoredRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `${text}-${i}`,
    topic: `topic ${i}`,
    data: { i, bytes: Uint8Array.of(i), big: 10n ** 20n, date: new Date(i) },
    at: 1000 + i,
  }))
}

/** Returns its records as a consumer receives them. */
function sent({ turnId, records }: StoredTurn, tenant = chat.tenant): OutboxRecord[] {
  return records.map((record) => ({ ...record, tenant, turnId }))
}

async function idsOf({ outbox }: StoreBench['store'], consumer: string, ms = hour): Promise<string[]> {
  return (await outbox.claim(consumer, 100, ms)).map(({ id }) => id)
}
