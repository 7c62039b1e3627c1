import { type Fault, mapped } from './fault.ts'

/** Faults with the images in events. */
export const eventBlobFaults: readonly Fault[] = [
  [
    'gives back base64 as bytes',
    (log) => ({
      read: (...args) => mapped(log.read(...args), ({ seq, event }) => ({ seq, event: decoded(event) })),
    }),
    'gives back events with large bytes, base64 and data URLs as they were appended',
  ],
  [
    'copies bytes late',
    (log) => ({
      append: async (...args) => {
        await undefined
        return log.append(...args)
      },
    }),
    'takes its own copy of the bytes of an event before it waits for anything, and keeps the order',
  ],
  [
    'keeps one image for all runs',
    (log) => {
      let isGone = false
      const lost = (event: unknown) => (isGone && event instanceof Uint8Array ? new Uint8Array(0) : event)
      return {
        delete: async (of) => {
          isGone = true
          await log.delete(of)
        },
        read: (...args) => mapped(log.read(...args), ({ seq, event }) => ({ seq, event: lost(event) })),
      }
    },
    'keeps the images of a run until the run is deleted, also where another run has the same',
  ],
  [
    'opens a run for its image',
    (log) => ({
      append: (run, epoch, events, options) =>
        log.append(run, epoch, events, events[0] instanceof Uint8Array ? {} : options),
    }),
    'keeps no image of a run that was deleted or taken over meanwhile',
  ],
]

function decoded(event: unknown): unknown {
  const { data, ...rest } = (event as { event?: { data?: unknown } }).event ?? {}
  return typeof data === 'string' ? { event: { ...rest, data: new Uint8Array(data.length) } } : event
}
