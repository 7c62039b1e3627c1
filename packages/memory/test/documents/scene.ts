import { memoryStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { type DocumentsOptions, documents } from '../../src/documents/index.ts'

export const acme = { tenant: 'acme' }

/** A collection in an empty store. */
export function scene(options: Partial<DocumentsOptions> = {}) {
  const clock = manualClock(Date.UTC(2026, 4, 4))
  const sessions = memoryStore({ clock })
  const store = { sessions, passages: sessions.passages }
  const collection = (more: Partial<DocumentsOptions> = {}) =>
    documents({ store, name: 'handbook', clock, ...options, ...more })
  return { clock, store, sessions, collection, handbook: collection() }
}
