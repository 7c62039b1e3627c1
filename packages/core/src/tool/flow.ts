import { describe } from '../errors/describe.ts'
import { nearestFirst } from '../errors/nearest.ts'

/** Information-flow labels of a text: untrusted or private. */
export interface FlowLabels {
  /** Someone other than the principal may have written it, and may have put instructions into it. */
  untrusted?: boolean
  /** It is meant for the principal only. */
  private?: boolean
}

/**
 * The kinds of data that a tool reads in and sends out, for layers that watch the flow of information, such as `guard.flow`.
 * `{}` declares that the tool does none of this.
 */
export interface ToolFlow<Args = Record<string, unknown>> extends FlowLabels {
  /** It sends part of its arguments to a third party. */
  sends?: boolean
  /** It makes a persistent change. */
  writes?: boolean
  /** Returns all addresses that a call sends to. Gets the same arguments as `execute`. */
  to?(args: Args): readonly string[]
  /** Whether the tool's text for the model differs from the text that the app chose. Called before each model call. */
  changed?(): boolean
}

const flags = ['untrusted', 'private', 'sends', 'writes']
const functions = ['to', 'changed']

/** Describes why a value is not a valid `ToolFlow`. Returns undefined for a valid one. */
export function flowFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `has ${describe(value)} as its flow. Use { untrusted?, private?, sends?, writes?, to? }; {} for none of these.`
  for (const [key, own] of Object.entries(value)) {
    const wanted = flags.includes(key) ? 'boolean' : functions.includes(key) ? 'function' : undefined
    if (wanted === undefined)
      return `has the unknown flow key ${describe(key)}. Known keys are ${nearestFirst(key, [...flags, ...functions]).join(', ')}.`
    if (own !== undefined && typeof own !== wanted) return `has flow.${key}: ${describe(own)}, not a ${wanted}.`
  }
  return undefined
}
