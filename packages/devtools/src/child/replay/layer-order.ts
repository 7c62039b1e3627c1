import { Agent } from '@allium/core'
import type { ReplayChange } from '../../replay-change.ts'

type Move = Extract<ReplayChange, { kind: 'move' }>
/** The arguments of a call of `use()`. */
type UseCall = readonly [first: unknown, second?: unknown]

/** The methods of an agent that need its layers. */
const readers = ['init', 'session', 'run', 'inspect', 'check', 'displayFor', 'dispose'] as const

/** The layers that agents were given while their module loaded. They are registered later, so that one of them can move. */
export interface HeldLayers {
  /** Moves a layer of this agent. @throws Error if the agent does not have both layers */
  move(agent: object, move: Move): void
  /** Registers the layers of all agents in their order, and ends the holding. */
  release(): void
}

/**
 * Holds back each call of `use()` until the layers of its agent are needed. The order of layers is that of these calls, and no agent can
 * change it later.
 */
export function holdLayers(): HeldLayers {
  const prototype = Agent.prototype as unknown as Record<string, (...given: unknown[]) => unknown>
  const held = new Map<object, UseCall[]>()
  const originals = new Map([...readers, 'use'].map((name) => [name, prototype[name]]))
  const register = (agent: object) => {
    const calls = held.get(agent) ?? []
    held.delete(agent)
    for (const call of calls) originals.get('use')?.apply(agent, [...call])
  }
  for (const name of readers)
    prototype[name] = function (this: object, ...given) {
      register(this)
      return originals.get(name)?.apply(this, given)
    }
  prototype.use = function (this: object, ...given) {
    const calls = held.get(this) ?? []
    held.set(this, [...calls, ...eachLayer(given as unknown as UseCall)])
    return this
  }
  return {
    move(agent, move) {
      held.set(agent, moved(held.get(agent) ?? [], move))
    },
    release() {
      for (const [name, original] of originals) prototype[name] = original as () => unknown
      for (const agent of [...held.keys()]) register(agent)
    },
  }
}

/** A list of layers as one call for each, so that one of them can move. */
function eachLayer([first, ...rest]: UseCall): UseCall[] {
  return Array.isArray(first) ? first.flatMap((one) => eachLayer([one])) : [[first, ...rest]]
}

function moved(calls: readonly UseCall[], { layer, to, of }: Move): UseCall[] {
  const found = calls.find((call) => nameOf(call) === layer)
  const others = calls.filter((call) => call !== found)
  const place = others.findIndex((call) => nameOf(call) === of)
  if (found === undefined || place === -1) {
    const names = calls.flatMap((call) => nameOf(call) ?? [])
    throw new Error(
      `"${found === undefined ? layer : of}" is not among the layers that can move. These can: ${names.join(', ')}.`,
    )
  }
  return others.toSpliced(to === 'outside' ? place : place + 1, 0, found)
}

function nameOf([first]: UseCall): string | undefined {
  const { name } = (first ?? {}) as { name?: unknown }
  return typeof first === 'object' && typeof name === 'string' ? name : undefined
}
