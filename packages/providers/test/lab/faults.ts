import type { Version } from './row.ts'

/** Why cells of the table are wrong. */
export interface Fault {
  /** The names of rows. */
  rows: readonly string[]
  /** @default both */
  version?: Version
  scenarios: readonly string[]
  whose: 'package' | 'allium'
  /** One sentence for the docs. */
  note: string
}

export const faults: readonly Fault[] = []
