import type { StoredTurn } from '@allium/core'
import type { Outbox, OutboxRecord, SessionStore } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

const outbox = (change: (outbox: Outbox) => Partial<Outbox>): Breaks => {
  return ({ outbox }) => {
    const own: Outbox = { claim: (...args) => outbox.claim(...args), done: (...args) => outbox.done(...args) }
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
        outbox: { claim: async () => early, done: async () => {} },
      }
    },
    'gives records once their run is appended, the oldest first, and not before',
  ],
  [
    'sends the newest first',
    outbox((inner) => ({ claim: async (...args) => (await inner.claim(...args)).toReversed() })),
    'gives records once their run is appended, the oldest first, and not before',
  ],
  ['sends records with each append', sendsAgain, 'gives the records of a run once, though it was appended twice'],
  [
    'has one place for all consumers',
    outbox((inner) => ({
      claim: (_, limit, ms) => inner.claim('all', limit, ms),
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
    outbox((inner) => ({ claim: (consumer, limit) => inner.claim(consumer, limit, Number.POSITIVE_INFINITY) })),
    'hides claimed records for their lease, and delivers them again if they are not done by then',
  ],
  [
    'holds nothing',
    outbox((inner) => ({ claim: (consumer, limit) => inner.claim(consumer, limit, 0) })),
    'hides claimed records for their lease, and delivers them again if they are not done by then',
  ],
  [
    'looks, waits and takes records',
    outbox((inner) => ({
      claim: async (consumer, limit, ms) => {
        const seen = await inner.claim(consumer, limit, 0)
        await inner.claim(consumer, limit, ms)
        return seen
      },
    })),
    'gives each record to one of many concurrent consumers, up to the requested number',
  ],
  [
    'gives all records at once',
    outbox((inner) => ({ claim: (consumer, _, ms) => inner.claim(consumer, 100, ms) })),
    'gives each record to one of many concurrent consumers, up to the requested number',
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
    outbox: { claim: async () => sent.splice(0), done: async () => {} },
  }
}
