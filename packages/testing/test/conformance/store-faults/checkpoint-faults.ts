import type { SessionKey, StoredTurn } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

const versionOf = async (store: SessionStore, key: SessionKey) => (await store.load(key))?.version ?? 0

/** Faults with runs that go on. */
export const checkpointFaults: readonly Fault[] = [
  [
    'appends checkpoints',
    (store) => ({ checkpoint: (lease, version, turn) => store.append(lease, version, turn) }),
    'keeps a checkpoint apart from the history, without a new version',
  ],
  [
    'keeps the first checkpoint',
    (store) => ({
      checkpoint: async (lease, version, turn) => {
        if ((await store.load(lease.key))?.open === undefined) await store.checkpoint(lease, version, turn)
      },
    }),
    'keeps the last checkpoint alone',
  ],
  [
    'tells of no open run',
    (store) => ({
      acquire: async (key, ms) => {
        const { lease, heldUntil } = await store.acquire(key, ms)
        if (lease === undefined) return { heldUntil }
        const { open: _, ...rest } = lease
        return { lease: rest }
      },
    }),
    'tells who takes a session that a run was left open in it',
  ],
  ['keeps checkpoints for good', keepsOpen(), 'forgets a checkpoint when its run is appended, or another one'],
  [
    'keeps checkpoints behind other runs',
    keepsOpen((open, { turnId }) => open.turnId !== turnId),
    'forgets a checkpoint when its run is appended, or another one',
  ],
  [
    'drops checkpoints that come late',
    (store) => ({ checkpoint: (...args) => store.checkpoint(...args).catch(() => {}) }),
    'rejects the checkpoint of a process that lost the session',
  ],
  [
    'takes checkpoints for any version',
    (store) => ({
      checkpoint: async (lease, _, turn) => store.checkpoint(lease, await versionOf(store, lease.key), turn),
    }),
    'refuses a checkpoint for another version, beyond the end, or of a run that has ended',
  ],
  [
    'takes checkpoints beyond the end',
    (store) => ({
      checkpoint: async (lease, version, turn) => {
        const { length } = (await store.load(lease.key))?.history ?? []
        await store.checkpoint(lease, version, { ...turn, from: Math.min(turn.from, length) })
      },
    }),
    'refuses a checkpoint for another version, beyond the end, or of a run that has ended',
  ],
  [
    'takes checkpoints of runs that have ended',
    (store) => ({
      checkpoint: async (lease, version, turn) => {
        const { turnId } = turn
        const hasEnded = (await store.find(lease.key, { turnId }))?.endedAt !== undefined
        if (!hasEnded) await store.checkpoint(lease, version, turn)
      },
    }),
    'refuses a checkpoint for another version, beyond the end, or of a run that has ended',
  ],
  [
    'stores only what is new',
    (store) => ({ checkpoint: (lease, version, { after: _, ...turn }) => store.checkpoint(lease, version, turn) }),
    'adds what is new to a checkpoint, and replaces what changed',
  ],
  [
    'loses the records of earlier parts',
    reads((open) => ({ ...open, records: [] })),
    'adds what is new to a checkpoint, and replaces what changed',
  ],
  [
    'loses what a lost process added',
    (store) => ({
      acquire: async (key, ms) => {
        const acquired = await store.acquire(key, ms)
        const { lease } = acquired
        const { open } = (lease?.open && (await store.load(key))) || {}
        if (lease !== undefined && open !== undefined)
          await store.checkpoint(lease, lease.version, { ...open, messages: open.messages.slice(0, 1) })
        return acquired
      },
    }),
    'keeps what a lost process added, for the process that takes the session',
  ],
  [
    'continues any checkpoint',
    (store) => ({
      checkpoint: async (lease, version, { after, ...turn }) => {
        const { open } = (await store.load(lease.key)) ?? {}
        const messages = [...(open?.messages ?? []).slice(0, after?.messages ?? 0), ...turn.messages]
        const calls = [...(open?.calls ?? []).slice(0, after?.calls ?? 0), ...(turn.calls ?? [])]
        const records = [...(open?.records ?? []).slice(0, after?.records ?? 0), ...turn.records]
        await store.checkpoint(lease, version, { ...turn, messages, records, ...(turn.calls && { calls }) })
      },
    }),
    'refuses a checkpoint that continues another one than the last',
  ],
]

/** Reads an open run with another list of messages. */
function reads(change: (open: StoredTurn) => StoredTurn): Breaks {
  return (store) => ({
    load: async (key) => {
      const stored = await store.load(key)
      return stored?.open === undefined ? stored : { ...stored, open: change(stored.open) }
    },
  })
}

/** Gives the last checkpoint on with a session that has turns, as long as it `stays`. */
function keepsOpen(stays: (open: StoredTurn, appended: StoredTurn) => boolean = () => true): Breaks {
  return (store) => {
    let open: StoredTurn | undefined
    return {
      checkpoint: async (lease, version, turn) => {
        open = turn
        await store.checkpoint(lease, version, turn)
      },
      append: async (lease, version, turn, options) => {
        await store.append(lease, version, turn, options)
        if (open !== undefined && !stays(open, turn)) open = undefined
      },
      load: async (key) => {
        const stored = await store.load(key)
        return stored && (open === undefined ? stored : { ...stored, open })
      },
    }
  }
}
