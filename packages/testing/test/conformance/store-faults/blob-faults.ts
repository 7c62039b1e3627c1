import { AlliumError } from '@allium/core'
import type { StoredSession } from '@allium/store'
import type { Breaks, Fault } from './fault.ts'

/** Faults with bytes of images and files. */
export const blobFaults: readonly Fault[] = [
  [
    'writes base64 in its own way',
    loading((data) => (typeof data === 'string' ? data.replaceAll('-', '+') : data)),
    'returns large bytes, base64 and data URLs unchanged, also in tool results and state',
  ],
  [
    'loses the images of open runs',
    loading((data, isOpen) => (isOpen ? new Uint8Array() : data)),
    'returns the images of an active run, and of its stored turn',
  ],
  [
    'takes input for a reference',
    (store) => ({
      find: async (key, by) => {
        const turn = await store.find(key, by)
        return turn && { ...turn, rest: { ...turn.rest, state: { ...turn.rest.state, posing: undefined } } }
      },
    }),
    'keeps input that looks like a reference to bytes as data',
  ],
  [
    'copies bytes later',
    (store) => ({
      append: async (...args) => {
        await Promise.resolve()
        return store.append(...args)
      },
    }),
    'takes its own copy of bytes before it waits for anything',
  ],
  [
    'wants a lease for a turn that it has',
    (store) => ({
      append: async (lease, ...rest) => {
        if (await store.load(lease.key)) throw new AlliumError('store.fenced', 'The lease was lost.')
        return store.append(lease, ...rest)
      },
    }),
    'knows a turn with an image again after the lease was lost',
  ],
  [
    'deletes images that others have',
    (store) => {
      let isGone = false
      const { load } = loading((data) => (isGone ? new Uint8Array() : data))(store, undefined as never)
      return {
        ...(load && { load }),
        delete: async (key) => {
          isGone = true
          await store.delete(key)
        },
      }
    },
    'keeps an image as long as any session of its owner has it',
  ],
  [
    'gives images that are not whole',
    loading((data) => (data instanceof Uint8Array ? data.subarray(1) : data)),
    'stores the same image for many sessions that run and end at once',
  ],
  [
    'loses the images of records',
    ({ outbox }) => ({
      outbox: {
        done: (...args) => outbox.done(...args),
        claim: async (...args) => {
          const records = await outbox.claim(...args)
          return records.map((record) => ({ ...record, data: { ...(record.data as object), again: undefined } }))
        },
      },
    }),
    'gives a consumer the images of a record as they were recorded, also once their session is gone',
  ],
  [
    'deletes nothing',
    () => ({ delete: async () => {} }),
    'does not store an image of a run that was deleted meanwhile',
  ],
]

/** A store that changes the data of images while it loads them. */
function loading(change: (data: Uint8Array | URL | string, isOpen: boolean) => Uint8Array | URL | string): Breaks {
  return (store) => ({ load: async (...args) => changed(await store.load(...args), change) })
}

function changed(stored: StoredSession | undefined, change: Parameters<typeof loading>[0]) {
  const changing = (messages: StoredSession['history'], isOpen: boolean) =>
    messages.map((message) => {
      if (typeof message.content === 'string') return message
      const content = message.content.map((part) =>
        part.type === 'image' ? { ...part, data: change(part.data, isOpen) } : part,
      )
      return { ...message, content }
    })
  if (stored?.open === undefined) return stored && { ...stored, history: changing(stored.history, false) }
  return { ...stored, open: { ...stored.open, messages: changing(stored.open.messages, true) } }
}
