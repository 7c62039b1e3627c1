import { AlliumError, type Lease, type SessionKey, type StoredTurn } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

const versionOf = async (store: SessionStore, key: SessionKey) => (await store.load(key))?.version ?? 0
const found = (change: (turn: StoredTurn) => StoredTurn | undefined): Breaks => {
  return (store) => ({
    find: async (key, by) => {
      const turn = await store.find(key, by)
      return turn && change(turn)
    },
  })
}

/** Faults with runs that have ended: how they are appended, and found. */
export const runFaults: readonly Fault[] = [
  [
    'appends a run again',
    (store) => ({
      append: async (lease, version, turn, options) => {
        const known = await store.find(lease.key, turn)
        const turnId = known?.endedAt === undefined ? turn.turnId : `${turn.turnId}+`
        await store.append(
          lease,
          turnId === turn.turnId ? version : await versionOf(store, lease.key),
          { ...turn, turnId },
          options,
        )
      },
    }),
    'takes a run once, however often it is appended',
  ],
  [
    'takes a run again for a conflict',
    (store) => ({
      append: async (lease, version, turn, options) => {
        if (version !== (await versionOf(store, lease.key))) throw new AlliumError('store.conflict', 'Too late.')
        await store.append(lease, version, turn, options)
      },
    }),
    'takes a run once, however often it is appended',
  ],
  [
    'asks for the lease first',
    (store) => ({
      append: async (lease, ...rest) => {
        if (!(await store.renew(lease, 1000))) throw new AlliumError('store.fenced', 'Too late.')
        await store.append(lease, ...rest)
      },
    }),
    'accepts an appended run again without effect, even from a process that lost the session',
  ],
  [
    'gives any lease back with a run',
    (store) => {
      let last: Lease | undefined
      return {
        acquire: async (key, ms) => {
          const acquired = await store.acquire(key, ms)
          last = acquired.lease ?? last
          return acquired
        },
        append: async (lease, version, turn, options) => {
          await store.append(lease, version, turn, options)
          if (options?.release === true && last !== undefined) await store.release(last)
        },
      }
    },
    'accepts an appended run again without effect, even from a process that lost the session',
  ],
  [
    'drops checkpoints with a run that comes again',
    (store) => {
      let drops = false
      return {
        append: async (lease, version, turn, options) => {
          drops = (await store.find(lease.key, turn))?.endedAt !== undefined
          await store.append(lease, version, turn, options)
        },
        load: async (key) => {
          const { open, ...rest } = (await store.load(key)) ?? {}
          return 'version' in rest ? (drops || open === undefined ? rest : { ...rest, open }) : undefined
        },
      }
    },
    'accepts an appended run again without effect, even from a process that lost the session',
  ],
  [
    'drops what comes under a known id',
    (store) => ({
      append: async (lease, version, turn, options) => {
        const known = await store.find(lease.key, turn)
        if (known?.endedAt === undefined) await store.append(lease, version, turn, options)
      },
    }),
    'refuses another run under the id of one that was appended',
  ],
  [
    'compares the messages of a known run alone',
    (store) => ({
      append: async (lease, version, turn, options) => {
        const known = await store.find(lease.key, turn)
        const same = JSON.stringify(known?.messages) === JSON.stringify(turn.messages)
        await store.append(lease, version, same && known !== undefined ? known : turn, options)
      },
    }),
    'refuses another run under the id of one that was appended',
  ],
  [
    'fills gaps',
    (store) => ({
      append: async (lease, version, turn, options) => {
        const { length } = (await store.load(lease.key))?.history ?? []
        await store.append(lease, version, { ...turn, from: Math.min(turn.from, length) }, options)
      },
    }),
    'refuses a run that begins beyond the end of the history',
  ],
  [
    'gives nothing back with a run',
    (store) => ({ append: (lease, version, turn) => store.append(lease, version, turn) }),
    'releases the session with a run, on request',
  ],
  [
    'gives the session free with each run',
    (store) => ({ append: (lease, version, turn) => store.append(lease, version, turn, { release: true }) }),
    'releases the session with a run, on request',
  ],
  [
    'finds runs that have ended',
    found((turn) => (turn.endedAt === undefined ? undefined : turn)),
    'finds a run by its id and by its key, including an active one',
  ],
  [
    'finds runs by their ids',
    (store) => ({ find: async (key, by) => ('idempotencyKey' in by ? undefined : store.find(key, by)) }),
    'finds a run by its id and by its key, including an active one',
  ],
  [
    'counts versions from 0',
    (store) => ({ find: (key, by) => store.find(key, 'version' in by ? { version: by.version + 1 } : by) }),
    'finds a run by the version that it made',
  ],
  [
    'finds runs anywhere',
    findsIn((key) => ({ ...key, owner: 'ann' })),
    'finds no run of another session, nor one that is not there',
  ],
  [
    'takes ids for patterns',
    (store) => ({
      find: async (key, by) =>
        'turnId' in by && /[_%]/.test(by.turnId) ? store.find(key, { turnId: 'turn-one' }) : store.find(key, by),
    }),
    'finds no run of another session, nor one that is not there',
  ],
  [
    'keeps records as texts',
    found(({ records, ...turn }) => ({ ...turn, records: records.map((one) => ({ ...one, data: String(one.data) })) })),
    'returns every field of a run, while it is active and after its end',
  ],
  [
    'keeps whole seconds',
    found((turn) => ({ ...turn, startedAt: Math.floor(turn.startedAt / 1000) * 1000 })),
    'returns every field of a run, while it is active and after its end',
  ],
  [
    'gives the same run to all',
    (store) => {
      let first: ReturnType<SessionStore['find']> | undefined
      return { find: (key, by) => (first ??= store.find(key, by)) }
    },
    'keeps and gives copies of open runs, found ones, lists and records too',
  ],
  [
    'loads the last version alone',
    (store) => ({ load: (key) => store.load(key) }),
    'loads a session as it was after any number of turns',
  ],
  [
    'loads the last version for one to come',
    (store) => ({
      load: async (key, options) =>
        (await store.load(key, options)) ?? ((options?.version ?? 0) > 0 ? store.load(key) : undefined),
    }),
    'loads a session as it was after any number of turns',
  ],
]

function findsIn(place: (key: SessionKey) => SessionKey): Breaks {
  return (store) => ({ find: (key, by) => store.find(place(key), by) })
}
