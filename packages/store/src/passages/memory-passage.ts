import type { CheckedPassage } from './check-passages.ts'

/** A passage of a session in memory, at its position of the list. */
export interface MemoryPassage extends Omit<CheckedPassage, 'terms'> {
  readonly turnId: string
  readonly terms: ReadonlyMap<string, number>
  /** Grows with each passage of the store. */
  readonly n: number
  /** The vector by an embedding model. */
  embedded?: { readonly model: string; readonly vector: Int8Array }
}
