import type { ShadowDecision } from '../shadow-decision.ts'

/** How often a shadowed layer would have decided what, in this process. */
export type ShadowLayerCounts = Readonly<Record<ShadowDecision['decision'], number>> & {
  /** All decisions. */
  readonly total: number
}

export interface ShadowCounts {
  /** Counts a decision: the option `onDecision` of `shadow()`. */
  readonly add: (decision: Pick<ShadowDecision, 'layer' | 'decision'>) => void
  /** Returns the counts of each layer, by its name. */
  counts(): Readonly<Record<string, ShadowLayerCounts>>
}

const none = { total: 0, pass: 0, skip: 0, deny: 0, suspend: 0, block: 0, abort: 0, throw: 0, change: 0 }

/**
 * Counts the decisions of shadowed layers: how often each would have denied, blocked, changed or failed. A shadow has no outcome, so
 * there is no verdict.
 *
 * @example
 * const decisions = shadowCounts()
 * agent.use(shadow(newGuard, { onDecision: decisions.add }))
 * console.log(decisions.counts())
 */
export function shadowCounts(): ShadowCounts {
  const counts = new Map<string, { -readonly [K in keyof ShadowLayerCounts]: number }>()
  return {
    add({ layer, decision }) {
      const ofLayer = counts.get(layer) ?? { ...none }
      counts.set(layer, ofLayer)
      ofLayer[decision]++
      ofLayer.total++
    },
    counts: () => Object.fromEntries([...counts].map(([layer, ofLayer]) => [layer, { ...ofLayer }])),
  }
}
