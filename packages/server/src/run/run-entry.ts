import type { Entry } from '@allium/durable/log'

/** An entry of a run's log in its place; without one where it comes from the server itself. */
export interface RunEntry extends Entry {
  run?: string
  seq?: number
}
