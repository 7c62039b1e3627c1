import type { BlockOptions } from '@allium/core'

/** Which guard ended a turn: the `code` of its result and of `turn:end`. `guard.failed`: a guard could not check. */
export const guardCodes = [
  'guard.budget',
  'guard.concurrency',
  'guard.content',
  'guard.failed',
  'guard.files',
  'guard.injection',
  'guard.input',
  'guard.judge',
  'guard.max_model_calls',
  'guard.max_tool_calls',
  'guard.output',
  'guard.pii',
  'guard.rate_limit',
] as const
export type GuardCode = (typeof guardCodes)[number]

/** Returns the options of a block, besides its reason. */
export function blockOptions(code: GuardCode, { reply, retryAfter }: BlockDetails = {}): BlockOptions {
  return { code, ...(reply !== undefined && { reply }), ...(retryAfter !== undefined && { retryAfter }) }
}

interface BlockDetails {
  readonly reply?: string | undefined
  /** Milliseconds. */
  readonly retryAfter?: number
}
