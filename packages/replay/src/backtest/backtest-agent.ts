import { type Agent, AlliumError, type InspectedLayer, isAlliumError, type Usable } from '@allium/core'
import type { BacktestLayer } from './backtest-layer.ts'

/** The agent of a backtest. */
export type BacktestAgent = Pick<Agent, 'name' | 'version' | 'inspect' | 'session' | 'dispose'> & {
  use(layer: Usable): unknown
}

/** Adds the layer of a backtest. @throws AlliumError `options.invalid` if the agent has run */
export function useLast(agent: BacktestAgent, layer: BacktestLayer): void {
  try {
    agent.use(layer)
  } catch (cause) {
    if (!isAlliumError(cause, 'agent.started')) throw cause
    throw new AlliumError(
      'options.invalid',
      `The agent "${agent.name}" has run already, and a backtest has to add a layer. Pass a new agent, or a function that returns one.`,
      { cause },
    )
  }
}

/** Returns the hooks of a layer that a backtest does not run, if it has a tool hook. */
export function otherHooks({ name, scopes }: InspectedLayer): string[] {
  if (name === 'replay:backtest' || !scopes.includes('tool')) return []
  return scopes.filter((scope) => scope === 'turn' || scope === 'model')
}

/** Returns {@link otherHooks} by the name of a layer. */
export function hooksPassedBy(layers: readonly InspectedLayer[]) {
  const byName = new Map(layers.map((layer) => [layer.name, otherHooks(layer)]))
  return (layer: string | undefined): readonly string[] => (layer === undefined ? [] : (byName.get(layer) ?? []))
}
