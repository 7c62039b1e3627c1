import type { Turn } from './trace.ts'

/** The fields of an event `observe:promptCache` that the page shows. */
interface CacheBreak {
  type: string
  callIndex: number
  first: { layer?: string; part: string; fromToken: number; lostTokens: number; intended: boolean }
  breaks: readonly unknown[]
  promptTokens: number
  cost?: number
  cachedTokens?: number
  confirmed?: boolean
}

/** Most lines of one turn. */
const maxLines = 5

/** Returns a line for each model call of a turn that could not use the provider's prompt cache: which layer, from where, at which cost. */
export function cacheBreaksOf({ events }: Turn, money: (usd: number) => string): string[] {
  const found = events.flatMap(({ event }) =>
    event.type === 'observe:promptCache' ? [event as unknown as CacheBreak] : [],
  )
  const lines = found.slice(0, maxLines).map((one) => lineOf(one, money))
  return found.length > maxLines ? [...lines, `${found.length - maxLines} more in the view Events`] : lines
}

function lineOf(
  { callIndex, first, breaks, promptTokens, cost, cachedTokens, confirmed }: CacheBreak,
  money: (usd: number) => string,
) {
  const by = first.layer === undefined ? 'before the first layer' : `by ${first.layer}`
  const lost = `${first.lostTokens.toLocaleString()} of ${promptTokens.toLocaleString()} tokens lost`
  return [
    `Model call ${callIndex + 1}: prompt cache broken ${by} in ${first.part}, from token ${first.fromToken.toLocaleString()}: ${lost}`,
    ...(cost === undefined ? [] : [money(cost)]),
    ...(cachedTokens === undefined ? [] : [`the provider read ${cachedTokens.toLocaleString()} from its cache`]),
    ...(confirmed === false ? ['more than this estimate allows'] : []),
    ...(first.intended ? ['intended'] : []),
    ...(breaks.length > 1 ? [`${breaks.length - 1} more differences`] : []),
  ].join(', ')
}
