import type { JsonSchema } from '@allium/core'

/** A server's question during a call. */
export interface Question {
  readonly message: string
  /** The schema of the answers, an object. */
  readonly schema: JsonSchema
}

export type Answers = Record<string, unknown>
/** The reply to the server: answers, or a refusal to answer. */
export type Reply = { action: 'accept'; content: Answers } | { action: 'decline' }
