import { equalJson } from '@allium/core/internal'
import type { RecordedTurn } from '../recorded-turn.ts'

/** A layer's declared options; undefined if it declares none. */
export type LayerOptions = Readonly<Record<string, unknown>> | undefined

/** Finds the layers whose declared options differ from the recording. One without options has changed if the agent's version has. */
export class ChangedLayers {
  readonly #recorded = new Map<string, LayerOptions>()
  readonly #current = new Map<string, LayerOptions>()
  readonly #agents = new Map<string, string>()
  readonly #sameVersion: boolean

  constructor({ layers, version }: RecordedTurn, now: string | undefined) {
    for (const { agent, name, options } of layers ?? []) this.#recorded.set(keyOf(agent, name), options)
    this.#sameVersion = version === now
  }

  /** A hook of a layer runs. */
  entered(turnId: string, agent: string, layer: string, options: LayerOptions): void {
    this.#agents.set(turnId, agent)
    this.#current.set(keyOf(agent, layer), options)
  }

  /** Whether the layer has changed, or did not run in the replay. */
  isChangedOrGone(turnId: string, layer: string | undefined): boolean {
    const isGone = layer !== undefined && !this.#current.has(keyOf(this.#agents.get(turnId) ?? '', layer))
    return isGone || this.isChanged(turnId, layer)
  }

  /** @param turnId the turn in which the layer runs */
  isChanged(turnId: string, layer: string | undefined): boolean {
    if (layer === undefined) return !this.#sameVersion
    const key = keyOf(this.#agents.get(turnId) ?? '', layer)
    const [before, now] = [this.#recorded.get(key), this.#current.get(key)]
    if (before === undefined && now === undefined) return !this.#sameVersion
    return !equalJson(withoutFunctions(before), withoutFunctions(now))
  }
}

function keyOf(agent: string, layer: string): string {
  return `${agent}\n${layer}`
}

/** Functions of options are not in a recording. */
function withoutFunctions(options: LayerOptions): unknown {
  return options === undefined ? undefined : JSON.parse(JSON.stringify(options))
}
