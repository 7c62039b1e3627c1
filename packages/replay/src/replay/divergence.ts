import type { ModelContext } from '@allium/core'

/** A model call of the replay, as it would have been sent. */
export interface SentRequest {
  readonly turnId: string
  readonly call: number
  readonly attempt: number
  readonly model: string
  readonly request: ModelContext['request']
}

/** Why a replay cannot go on. */
export interface Divergence {
  readonly turnId: string
  /** As in decisions: the index of a model call, or the id of a tool call. Undefined for the turn. */
  readonly call: string | number | undefined
  readonly why: string
}
