import type { PassagePlace } from '@allium/store'
import type { RankedPlace } from '../recall/rank.ts'
import { cosine } from './vector.ts'

/**
 * Returns places by the sum of two shares: the score of their words, of the best one's, and the similarity of their vector to that of the
 * question, from the least to the most similar one. A place without a vector has only the first, and equal ones keep their order.
 *
 * @param vectors by place, as `placeName()` writes it
 */
export function joinedOrder(
  ranked: readonly RankedPlace[],
  question: Int8Array,
  vectors: ReadonlyMap<string, Int8Array>,
): PassagePlace[] {
  const cosines = ranked.map(({ place }) => {
    const vector = vectors.get(placeName(place))
    return vector?.length === question.length ? cosine(question, vector) : undefined
  })
  const known = cosines.filter((one) => one !== undefined)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const best = ranked[0]?.score || 1
  return ranked
    .map(({ place, score }, i) => {
      const similar = cosines[i]
      const share = similar === undefined || most === least ? 0 : (similar - least) / (most - least)
      return { place, sum: score / best + share }
    })
    .sort((a, b) => b.sum - a.sum)
    .map(({ place }) => place)
}

export function placeName({ sessionId, position }: PassagePlace): string {
  return `${position}:${sessionId}`
}
