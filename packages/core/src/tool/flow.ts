import { describe } from '../errors/describe.ts'
import { nearestFirst } from '../errors/nearest.ts'

/** What is known of a text: that it comes from outside, that it is nobody else's business. */
export interface FlowLabels {
  /** Somebody else may have written it, and may have put instructions into it. */
  untrusted?: boolean
  /** It is for the principal, and not for others. */
  private?: boolean
}

/**
 * What a tool brings in and what it lets out, for layers that watch the flow of information, such as `guard.flow`. `{}`
 * says that it does none of that.
 */
export interface ToolFlow<Args = Record<string, unknown>> extends FlowLabels {
  /** Something of its arguments reaches somebody else. */
  sends?: boolean
  /** It changes something that stays. */
  writes?: boolean
  /** All addresses that a call sends to, of what `execute` gets. */
  to?(args: Args): readonly string[]
  /** Whether what the model reads of the tool is no longer what the app has chosen. Asked before each model call. */
  changed?(): boolean
}

const flags = ['untrusted', 'private', 'sends', 'writes']
const functions = ['to', 'changed']

/** What is wrong with a value in the place of a `ToolFlow`; undefined for one. */
export function flowFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `has ${describe(value)} as its flow. It is { untrusted?, private?, sends?, writes?, to? }; {} for none of these.`
  for (const [key, own] of Object.entries(value)) {
    const wanted = flags.includes(key) ? 'boolean' : functions.includes(key) ? 'function' : undefined
    if (wanted === undefined)
      return `has a flow that says ${describe(key)}. It knows ${nearestFirst(key, [...flags, ...functions]).join(', ')}.`
    if (own !== undefined && typeof own !== wanted) return `says flow.${key}: ${describe(own)}, and not a ${wanted}.`
  }
  return undefined
}
