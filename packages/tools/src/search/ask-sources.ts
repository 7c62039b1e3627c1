import { messageOf } from '@allium/core'
import type { SearchContext, SearchHit, SearchSource } from '@allium/store'
import { joinByShare } from '@allium/store/passages'
import { checkedHit } from './checked-hit.ts'
import type { NamedHit } from './hits-text.ts'

/** What the sources found, in one list. */
export interface Answers {
  readonly hits: readonly NamedHit[]
  /** What each source found. */
  readonly sources: readonly { readonly name: string; readonly found: number; readonly error?: string }[]
}

/**
 * Asks all sources at once. If some fail, the others still answer.
 *
 * @throws the error of the first source if all fail
 */
export async function askSources(
  question: string,
  sources: readonly SearchSource[],
  ctx: SearchContext,
): Promise<Answers> {
  const settled = await Promise.allSettled(sources.map(async (source) => source.search(question, ctx)))
  const errors = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (errors.length === sources.length) throw errors[0]
  const lists = settled.map((one, i) => (one.status === 'fulfilled' ? namedHits(one.value, sources[i], ctx.limit) : []))
  return {
    hits: joinByShare(lists, ctx.limit),
    sources: settled.map((one, i) => ({
      ...{ name: sources[i]?.name ?? '', found: lists[i]?.length ?? 0 },
      ...(one.status === 'rejected' && { error: messageOf(one.reason) }),
    })),
  }
}

function namedHits(found: readonly SearchHit[], source: SearchSource | undefined, limit: number): NamedHit[] {
  const hits = Array.isArray(found) ? found.slice(0, limit) : []
  return hits.flatMap((hit) => {
    const checked = checkedHit(hit)
    return checked === undefined ? [] : [{ from: source?.name ?? '', ...checked }]
  })
}
