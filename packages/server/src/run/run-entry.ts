import type { Entry } from '@allium/store/event-log'

/** An entry of a run's log with its position. Entries from the server itself have no position. */
export interface RunEntry extends Entry {
  run?: string
  seq?: number
}
