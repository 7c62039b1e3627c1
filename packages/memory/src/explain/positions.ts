import type { Passage, PassageScope, PassageStore, Posting } from '@allium/store'
import { weights } from '../recall/weights.ts'

/** Where a message was recalled from: as the event `memory:recall` names it. */
export interface RecalledPlace {
  readonly sessionId: string
  readonly turnId: string
  readonly index: number
}

/** How far a word counts. */
export const reach = Math.max(weights.before.length, weights.after.length)

/**
 * Returns the recalled passages that still exist, by place. A store finds passages by their position in the session, which an event does not
 * have. A passage was recalled because the words are in it or near it, so it is near a posting.
 */
export async function passagesAt(
  places: readonly RecalledPlace[],
  postings: readonly Posting[],
  { store, scope }: { store: PassageStore; scope: PassageScope },
): Promise<Map<RecalledPlace, Passage>> {
  const found = new Map<RecalledPlace, Passage>()
  for (const place of places) {
    const { sessionId, turnId, index } = place
    const positions = candidates(
      postings.filter((posting) => posting.sessionId === sessionId),
      index,
    )
    const read = await store.read(
      scope,
      positions.map((position) => ({ sessionId, position })),
    )
    const passage = read.find((one) => one.index === index && one.turnId === turnId)
    if (passage !== undefined) found.set(place, passage)
  }
  return found
}

/** Returns the positions that a message may have, from those of the nearest postings before and after it. */
function candidates(postings: readonly Posting[], index: number): number[] {
  const before = Math.max(...postings.filter((one) => one.index <= index).map(({ position }) => position))
  const after = Math.min(...postings.filter((one) => one.index >= index).map(({ position }) => position))
  const positions = Array.from({ length: reach + 1 }, (_, i) => [before + i, after - i]).flat()
  return [...new Set(positions.filter((position) => Number.isFinite(position) && position >= 0 && position <= index))]
}
