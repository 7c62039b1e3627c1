import {
  commonItems,
  commonTextTokens,
  type Item,
  isMessage,
  type SentRequest,
  sameItem,
  tokensOf,
} from './request-items.ts'

/** A call that reached the provider, with its request as the loop made it and as each layer passed it on, outermost first. */
export interface WatchedCall {
  readonly turnId: string
  readonly callIndex: number
  readonly fromLoop: SentRequest
  readonly stages: readonly Stage[]
}

export interface Stage {
  readonly layer: string
  readonly passedOn: SentRequest
}

/** A place where the beginning of the prompt differs from the call before. */
export interface PromptCacheBreak {
  /**
   * The layer that made the difference. Undefined if the request differed before the first model layer: because of instructions or tools
   * that change, a turn layer that replaced messages, or a session that was rewound or restored.
   */
  layer?: string
  /** The first part of the request that differs. `instructions` are system messages. */
  part: 'tools' | 'instructions' | 'messages' | 'model' | 'toolChoice' | 'responseFormat'
  /** The number of estimated tokens before the difference. */
  fromToken: number
  /** The estimated tokens after it that the provider could have read from its cache. */
  lostTokens: number
  /** Whether the layer is one of those that may break the cache, by the option `intended`. */
  intended: boolean
}

export function finalRequest({ fromLoop, stages }: WatchedCall): SentRequest {
  return stages.at(-1)?.passedOn ?? fromLoop
}

export function promptTokens(request: SentRequest): number {
  return tokensOf(request, 0, request.items.length)
}

/**
 * Returns the breaks between two calls, outermost layer first.
 *
 * @param minLostTokens returns the smallest loss that counts; only called if there is a difference
 */
export function findBreaks(before: WatchedCall, now: WatchedCall, minLostTokens: () => number): FoundBreak[] {
  const added = addedItems(before.fromLoop, now.fromLoop)
  let place: Place = { before: before.fromLoop, now: now.fromLoop, common: commonItems(before.fromLoop, now.fromLoop) }
  const breaks: FoundBreak[] = place.common < before.fromLoop.items.length ? [breakAt(place, added)] : []
  let notes = 0
  for (const { layer, ...requests } of pairedStages(before, now)) {
    const isUnchanged = requests.before.items === place.before.items && requests.now.items === place.now.items
    const common = isUnchanged ? place.common : commonItems(requests.before, requests.now)
    const inner: Place = { ...requests, common }
    const appended = appendedItems(place.now, inner.now)
    notes += appended
    // The layer is not to blame for a difference that was there before it, nor for what it does to new messages.
    const oldItems = inner.now.items.length - appended - (place.now.items.length - place.common)
    if (inner.common < Math.min(place.common, oldItems)) breaks.push(breakAt(inner, added + notes, layer))
    place = inner
  }
  // The innermost break decides what the provider can read, so its tokens are those of the final request.
  const last = breaks.pop()
  if (last !== undefined) breaks.push(breakAt(place, added + notes, last.layer))
  breaks.push(...otherFields(before, now, added + notes))
  if (breaks.length === 0) return breaks
  const least = minLostTokens()
  return breaks.filter(({ lostTokens }) => lostTokens > 0 && lostTokens >= least)
}

type FoundBreak = Omit<PromptCacheBreak, 'intended'>

/** The requests of two calls at the same place of the onion, and how many items they have in common. */
interface Place {
  readonly before: SentRequest
  readonly now: SentRequest
  readonly common: number
}

/** @param added the items at the end that the call before cannot have had */
function breakAt({ before, now, common }: Place, added: number, layer?: string): FoundBreak {
  const [itemBefore, item] = [before.items[common], now.items[common]]
  const sameText = commonTextTokens(itemBefore, item)
  const lost = tokensOf(now, common, now.items.length - added)
  return {
    ...(layer !== undefined && { layer }),
    part: partOf(item ?? itemBefore),
    fromToken: tokensOf(now, 0, common) + sameText,
    lostTokens: Math.max(0, lost - sameText),
  }
}

function partOf(item: Item | undefined): PromptCacheBreak['part'] {
  if (item === undefined || !isMessage(item)) return item === undefined ? 'messages' : 'tools'
  return item.role === 'system' ? 'instructions' : 'messages'
}

/** Another model, tool choice or response format: providers cache for each of them. */
function otherFields(before: WatchedCall, now: WatchedCall, added: number): FoundBreak[] {
  const final = finalRequest(now)
  const firstInput = final.items.findIndex((item) => isMessage(item) && item.role !== 'system')
  return (['model', 'toolChoice', 'responseFormat'] as const).flatMap((part) => {
    if (sameField(part, finalRequest(before), final)) return []
    const changed = pairedStages(before, now).find((pair) => !sameField(part, pair.before, pair.now))
    const isByLayer = sameField(part, before.fromLoop, now.fromLoop) && changed !== undefined
    // Tools and instructions stay cached when only the tool choice differs.
    const from = part === 'toolChoice' ? Math.max(0, firstInput) : 0
    const to = Math.min(final.items.length - added, commonItems(finalRequest(before), final))
    const found = { part, fromToken: tokensOf(final, 0, from), lostTokens: tokensOf(final, from, to) }
    return [{ ...(isByLayer && { layer: changed.layer }), ...found }]
  })
}

function sameField(part: 'model' | 'toolChoice' | 'responseFormat', a: SentRequest, b: SentRequest): boolean {
  return a[part] === b[part] || JSON.stringify(a[part]) === JSON.stringify(b[part])
}

/** Returns how many items at the end of a request are new. */
function addedItems(before: SentRequest, now: SentRequest): number {
  const common = commonItems(before, now)
  if (common === before.items.length) return now.items.length - common
  const last = now.items.findLastIndex((item) => before.items.some((known) => sameItem(known, item)))
  return now.items.length - 1 - last
}

/** Returns how many items a layer has added at the end, such as a reminder. */
function appendedItems(received: SentRequest, passedOn: SentRequest): number {
  if (received.items === passedOn.items) return 0
  const last = received.items.at(-1)
  const at = last === undefined ? -1 : passedOn.items.findLastIndex((item) => sameItem(item, last))
  return at < 0 ? 0 : passedOn.items.length - 1 - at
}

interface StagePair {
  readonly layer: string
  readonly before: SentRequest
  readonly now: SentRequest
}

/** Pairs the stages by layer. A layer that took part in only one of the calls passed the other one on unchanged. */
function pairedStages(before: WatchedCall, now: WatchedCall): StagePair[] {
  const [rest, pairs] = [[...before.stages], [] as StagePair[]]
  let [last, current] = [before.fromLoop, now.fromLoop]
  const add = (layer: string) => pairs.push({ layer, before: last, now: current })
  for (const { layer, passedOn } of now.stages) {
    const at = rest.findIndex((stage) => stage.layer === layer)
    for (const skipped of rest.splice(0, Math.max(0, at))) {
      last = skipped.passedOn
      add(skipped.layer)
    }
    if (at >= 0) last = rest.shift()?.passedOn ?? last
    current = passedOn
    add(layer)
  }
  for (const skipped of rest) {
    last = skipped.passedOn
    add(skipped.layer)
  }
  return pairs
}
