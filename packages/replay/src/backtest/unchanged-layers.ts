import type { InspectedLayer } from '@allium/core'
import { equalJson } from '@allium/core/internal'
import type { AgentNow } from './turn-backtest.ts'

/**
 * Returns whether a layer is the one of a recorded turn: its declared options are the same, and if it declares none, so is the version
 * of the agent. A changed layer must not get the old results of its `ctx.once()`.
 */
export function unchangedLayers(
  version: string | undefined,
  layers: readonly InspectedLayer[],
): AgentNow['isUnchanged'] {
  const options = new Map(layers.map((layer) => [layer.name, withoutFunctions(layer.options)]))
  return (layer, recorded) => {
    const isSameVersion = version !== undefined && version === recorded.version
    const now = layer === undefined ? undefined : options.get(layer)
    const then = recorded.layers.find(({ name }) => name === layer)
    if (then?.options === undefined || now === undefined || Object.keys(now).length === 0) return isSameVersion
    return equalJson(then.options, now)
  }
}

/** Functions of options are not in a recording. */
function withoutFunctions(options: InspectedLayer['options']): Record<string, unknown> {
  return JSON.parse(JSON.stringify(options))
}
