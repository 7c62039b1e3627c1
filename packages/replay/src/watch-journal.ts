import type { Journal } from '@allium/core'

/** A step that ran in this process. */
export interface WatchedStep {
  readonly id: string
  /** The layer whose `ctx.once()` it is. */
  readonly layer: string | undefined
  readonly items: unknown[]
  readonly outcome: { readonly result: unknown } | { readonly error: unknown }
}

/** Receives what a watched journal saw. */
export interface StepWatcher {
  began(id: string): void
  /** Called for each item. Returns whether it is kept. */
  item(item: unknown): boolean
  ended(step: WatchedStep): void
  /** A step was answered from a recording, so its work ran in another process. */
  replayed(id: string): void
}

/** Returns a journal that forwards everything to another one, and tells the watcher of each step that ran here. */
export function watchJournal(journal: Journal, watcher: StepWatcher): Journal {
  const { known, checkEnd } = journal
  return {
    get lease() {
      return journal.lease
    },
    get takenOver() {
      return journal.takenOver
    },
    compares: journal.compares,
    ...(known !== undefined && { known: (id: string) => known.call(journal, id) }),
    ...(checkEnd !== undefined && { checkEnd: (turnId: string) => checkEnd.call(journal, turnId) }),
    async step(id, work, emit, layer) {
      const items: unknown[] = []
      let ran = false
      try {
        const result = await journal.step(
          id,
          (out) => {
            ran = true
            watcher.began(id)
            return work((item) => {
              if (watcher.item(item)) items.push(copyOf(item))
              return out(item)
            })
          },
          emit,
          layer,
        )
        if (ran) watcher.ended({ id, layer, items, outcome: { result: copyOf(result) } })
        else watcher.replayed(id)
        return result
      } catch (error) {
        if (ran) watcher.ended({ id, layer, items, outcome: { error } })
        else watcher.replayed(id)
        throw error
      }
    },
  }
}

/** A shallow copy, because a layer may change the object that it receives. */
function copyOf<T>(value: T): T {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value
}
