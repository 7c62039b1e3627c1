import type { Journal } from '@allium/core'

/** Global, because the program and its agent may have two copies of this package. */
const brand = Symbol.for('allium.replays')

/** Marks the journal of a run that repeats a recorded one, so that `record()` does not record it again. */
export function markAsReplay(journal: Journal): Journal {
  return Object.assign(journal, { [brand]: true })
}

export function isReplay(journal: Journal): boolean {
  return brand in journal
}
