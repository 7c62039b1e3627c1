import type { PassagePlace, Posting } from '@allium/store'
import { weights } from './weights.ts'

/** A place with the score of its words. Scores leave the ranker only for what orders the places again. */
export interface RankedPlace {
  readonly place: PassagePlace
  readonly score: number
}

/** Sums by position. */
type Sums = Map<number, number>

/**
 * Returns the places that fit a question best, best first. What a search returns has no scores, because a score would tell something about
 * other messages. Some places may not exist: the neighbors of the first and the last message of a session.
 *
 * It is BM25 over windows, made from single messages when a question is asked: a message counts together with those around it, which count
 * less with the distance. All statistics are of one owner. Equal places keep the order of the postings.
 *
 * @param total the number of passages that the owner has
 */
export function rank(
  postings: readonly Pick<Posting, 'term' | 'sessionId' | 'position' | 'count'>[],
  total: number,
): RankedPlace[] {
  const scores = new Map<string, Sums>()
  /** The last position of each session that is known to exist. */
  const last = new Map<string, number>()
  for (const { sessionId, position } of postings) last.set(sessionId, Math.max(position, last.get(sessionId) ?? 0))
  for (const ofTerm of groupBy(postings, ({ term }) => term).values()) {
    const sessions = [...groupBy(ofTerm, ({ sessionId }) => sessionId)].map(([sessionId, ofSession]) =>
      windowsOf(sessionId, ofSession),
    )
    // A word is as rare as the windows that have it, and counts a little if all have it.
    const existing = sessions.flatMap(({ sessionId, windows }) =>
      [...windows.keys()].filter((position) => position <= (last.get(sessionId) as number)),
    )
    const found = Math.min(total, existing.length)
    const idf = Math.log(1 + (total - found + 0.5) / (found + 0.5))
    for (const { sessionId, alone, windows } of sessions) {
      const sums = scores.get(sessionId) ?? new Map<number, number>()
      scores.set(sessionId, sums)
      for (const [position, count] of windows)
        add(sums, position, idf * (saturated(count) + weights.alone * saturated(alone.get(position) ?? 0)))
    }
  }
  return [...scores]
    .flatMap(([sessionId, sums]) => [...sums].map(([position, score]) => ({ place: { sessionId, position }, score })))
    .sort((a, b) => b.score - a.score)
}

/** Counts one term in the windows around the messages of one session. */
function windowsOf(sessionId: string, postings: readonly Pick<Posting, 'position' | 'count'>[]) {
  const alone: Sums = new Map(postings.map(({ position, count }) => [position, count]))
  const windows: Sums = new Map()
  for (const [position, count] of alone) {
    add(windows, position, count)
    for (const [i, weight] of weights.before.entries()) add(windows, position + i + 1, count * weight)
    for (const [i, weight] of weights.after.entries()) if (position > i) add(windows, position - i - 1, count * weight)
  }
  return { sessionId, alone, windows }
}

function add(sums: Sums, position: number, value: number): void {
  sums.set(position, (sums.get(position) ?? 0) + value)
}

function saturated(count: number): number {
  return (count * (weights.k1 + 1)) / (count + weights.k1)
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}
