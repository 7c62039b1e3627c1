import type { HookInfo, TurnView } from '@allium/core'
import { isPlainObject } from '@allium/core/internal'
import type { RecordedLayer } from './recorded-turn.ts'

/** The layers that a turn entered, each with the first agent that entered it. */
export class EnteredLayers {
  /** By hook: a layer has up to three. */
  readonly #seen = new Map<HookInfo, string>()

  get isEmpty(): boolean {
    return this.#seen.size === 0
  }

  add(hook: HookInfo, ctx: TurnView): void {
    if (hook.layer !== undefined && !this.#seen.has(hook)) this.#seen.set(hook, ctx.agent.name)
  }

  items(): RecordedLayer[] {
    const layers = new Map<string, RecordedLayer>()
    for (const [{ layer = '', options }, agent] of this.#seen) {
      const key = `${agent}\n${layer}`
      if (!layers.has(key)) layers.set(key, { agent, name: layer, ...optionsOf(options) })
    }
    return [...layers.values()]
  }
}

function optionsOf(options: HookInfo['options'] = {}): Pick<RecordedLayer, 'options'> {
  const data = comparable(options) as Readonly<Record<string, unknown>>
  return Object.keys(data).length > 0 ? { options: data } : {}
}

/** Returns the part of an option that can be compared: data, and patterns as text. Functions cannot. */
function comparable(value: unknown, levels = 6): unknown {
  if (value instanceof RegExp) return String(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return isData(value) ? value : undefined
  if (levels === 0) return undefined
  if (Array.isArray(value)) return value.map((item) => comparable(item, levels - 1) ?? null)
  if (!isPlainObject(value)) return undefined
  const entries = Object.entries(value).map(([key, item]) => [key, comparable(item, levels - 1)] as const)
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}

function isData(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
