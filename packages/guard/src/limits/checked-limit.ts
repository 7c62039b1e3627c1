import { misconfigured } from '@allium/core'

/** @throws AlliumError `layer.config` when a function returned an invalid limit */
export function checkedLimit(layer: string, limit: unknown): number {
  if (typeof limit === 'number' && limit >= 0) return limit
  throw misconfigured(layer, `needs limit to return a number of 0 or more, not ${String(limit)}.`)
}
