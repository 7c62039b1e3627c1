import type { Outbox, OutboxRecord, SessionStore, StoredTurn } from '@allium/core'
import type { Breaks, Fault } from './fault.ts'

const outbox = (change: (outbox: Outbox) => Partial<Outbox>): Breaks => {
  return ({ outbox }) => {
    const own: Outbox = { take: (...args) => outbox.take(...args), done: (...args) => outbox.done(...args) }
    return { outbox: { ...own, ...change(outbox) } }
  }
}

/** Faults with what runs have recorded. */
export const outboxFaults: readonly Fault[] = [
  [
    'sends records of checkpoints',
    (store) => {
      const early: OutboxRecord[] = []
      return {
        checkpoint: async (lease, version, turn) => {
          await store.checkpoint(lease, version, turn)
          early.push(...recordsOf(turn))
        },
        outbox: { take: async () => early, done: async () => {} },
      }
    },
    'gives records once their run is appended, the oldest first, and not before',
  ],
  [
    'sends the newest first',
    outbox((inner) => ({ take: async (...args) => (await inner.take(...args)).toReversed() })),
    'gives records once their run is appended, the oldest first, and not before',
  ],
  ['sends records with each append', sendsAgain, 'gives the records of a run once, though it was appended twice'],
  [
    'has one place for all consumers',
    outbox((inner) => ({
      take: (_, limit, ms) => inner.take('all', limit, ms),
      done: (_, ids) => inner.done('all', ids),
    })),
    'gives each consumer all records, but for those that it has done',
  ],
  [
    'forgets what is done',
    outbox(() => ({ done: async () => {} })),
    'gives each consumer all records, but for those that it has done',
  ],
  [
    'gives a record once',
    outbox((inner) => ({ take: (consumer, limit) => inner.take(consumer, limit, Number.POSITIVE_INFINITY) })),
    'holds what was taken for so long, and gives it again when it is not done by then',
  ],
  [
    'holds nothing',
    outbox((inner) => ({ take: (consumer, limit) => inner.take(consumer, limit, 0) })),
    'holds what was taken for so long, and gives it again when it is not done by then',
  ],
  [
    'looks, waits and takes records',
    outbox((inner) => ({
      take: async (consumer, limit, ms) => {
        const seen = await inner.take(consumer, limit, 0)
        await inner.take(consumer, limit, ms)
        return seen
      },
    })),
    'gives a record to one of many that take at once, as many as were asked for',
  ],
  [
    'gives all records at once',
    outbox((inner) => ({ take: (consumer, _, ms) => inner.take(consumer, 100, ms) })),
    'gives a record to one of many that take at once, as many as were asked for',
  ],
]

function recordsOf({ turnId, records }: StoredTurn): OutboxRecord[] {
  return records.map((record) => ({ ...record, tenant: 'acme', turnId }))
}

function sendsAgain(store: SessionStore): Partial<SessionStore> {
  const sent: OutboxRecord[] = []
  return {
    append: async (lease, version, turn, options) => {
      await store.append(lease, version, turn, options)
      sent.push(...recordsOf(turn))
    },
    outbox: { take: async () => sent.splice(0), done: async () => {} },
  }
}
