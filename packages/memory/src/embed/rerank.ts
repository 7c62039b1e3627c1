import { messageOf, type TurnView } from '@allium/core'
import type { PassagePlace, PassageScope, PassageStore } from '@allium/store'
import { withoutNumbers } from '../recall/placeholders.ts'
import type { RankedPlace } from '../recall/rank.ts'
import type { Rerank } from '../recall/search.ts'
import { EmbeddingCall } from './embedding-call.ts'
import { type EmbeddingModel, embeddingModelId } from './embedding-model.ts'
import { joinedOrder, placeName } from './joined-order.ts'
import { endsTurn, runEmbedding, type Through } from './run-embedding.ts'

/** A question and passages were embedded, or should have been. */
export interface RecallEmbedded {
  type: 'memory:embed'
  layer: string
  /** The embedding model, such as `openai/text-embedding-3-small`. */
  model: string
  /** How many passages got a vector for this question. Those that had one already do not count. */
  passages: number
  /** Why it failed, so that only words count for the order. */
  error?: string
}

declare module '@allium/core' {
  interface AgentEvents {
    'memory:embed': RecallEmbedded
  }
}

interface Passages {
  readonly store: PassageStore
  readonly scope: PassageScope
}

interface How {
  readonly model: EmbeddingModel
  readonly layer: string
  readonly ctx: Pick<TurnView, 'clock' | 'signal' | 'logger' | 'emit'> & { once?: TurnView['once'] }
  readonly through: Through
}

/** How many of the best places by words are ordered again. They have 94 % of what a search should find. */
const candidates = 200

/** Returns a function that orders places of passages by their words and their vectors. If the model fails, it warns and keeps the order. */
export function rerankBy(how: How): Rerank {
  return async (question, ranked, of) => {
    const { model, layer, ctx } = how
    const [best, rest] = [ranked.slice(0, candidates), ranked.slice(candidates)]
    const event = { type: 'memory:embed', layer, model: embeddingModelId(model) } as const
    try {
      const embedded = await embed(question, best, of, how)
      if (embedded === undefined) return placesOf(ranked)
      const { asked, vectors, added } = embedded
      ctx.emit({ ...event, passages: added } satisfies RecallEmbedded)
      return [...joinedOrder(best, asked, vectors), ...placesOf(rest)]
    } catch (error) {
      if (endsTurn(error, ctx)) throw error
      const message = messageOf(error)
      ctx.logger.warn(`"${layer}" orders what it recalls by words alone, because embedding failed: ${message}`, {
        error,
      })
      ctx.emit({ ...event, passages: 0, error: message } satisfies RecallEmbedded)
      return placesOf(ranked)
    }
  }
}

/**
 * Embeds a question, and those of the passages that have no vector of the model yet. Returns undefined if there are none to order, or if a
 * journal has replayed the call.
 */
async function embed(question: string, ranked: readonly RankedPlace[], of: Passages, how: How) {
  const first = await embedOnce(1, question, ranked, of, how)
  const isFormer = first?.vectors.some(({ vector }) => vector.length !== first.asked.length)
  // Vectors of a former number of dimensions are made again.
  const again = await embedOnce(2, question, isFormer === true ? ranked : [], of, how, first?.asked.length)
  const { asked, vectors } = again ?? first ?? {}
  if (asked === undefined || vectors === undefined) return undefined
  const added = (first?.added ?? 0) + (again?.added ?? 0)
  return { asked, vectors: new Map(vectors.map((one) => [placeName(one), one.vector])), added }
}

/** @param dimensions vectors with another number of them are missing */
async function embedOnce(
  round: 1 | 2,
  question: string,
  ranked: readonly RankedPlace[],
  { store, scope }: Passages,
  how: How,
  dimensions?: number,
) {
  const name = embeddingModelId(how.model)
  const prepare = async () => {
    if (ranked.length === 0) return undefined
    const places = placesOf(ranked)
    const all = await store.vectors(scope, places, name)
    const stored = all.filter(({ vector }) => dimensions === undefined || vector.length === dimensions)
    const known = new Set(stored.map(placeName))
    const missing = places.filter((place) => !known.has(placeName(place)))
    return { stored, passages: (await store.read(scope, missing)).filter(({ text }) => text.trim() !== '') }
  }
  const [prepared] = await Promise.allSettled([prepare()])
  const ready = prepared.status === 'fulfilled' ? prepared.value : undefined
  if (await isMade(how, round, ready !== undefined)) {
    const { stored = [], passages = [] } = ready ?? {}
    const call = new EmbeddingCall(
      how.model,
      passages.map(({ text }) => withoutNumbers(text)),
    )
    await runEmbedding(call, question, how)
    const [asked, ...given] = call.vectors ?? []
    if (asked === undefined) return undefined
    const added = passages.flatMap((one, i) => (given[i] === undefined ? [] : { ...one, vector: given[i] }))
    await store.putVectors(scope, name, added)
    return { asked, vectors: [...stored, ...added], added: added.length }
  }
  if (prepared.status === 'rejected') throw prepared.reason
  return undefined
}

/**
 * Whether a call is made. A replay of the run makes the same number of model calls, whatever the store has then.
 *
 * @param isNeeded ignored by a replay
 */
async function isMade({ ctx, layer, through }: How, round: 1 | 2, isNeeded: boolean): Promise<boolean> {
  return typeof through === 'function' && ctx.once ? ctx.once(`${layer}:embed:${round}`, () => isNeeded) : isNeeded
}

function placesOf(ranked: readonly RankedPlace[]): PassagePlace[] {
  return ranked.map(({ place }) => place)
}
