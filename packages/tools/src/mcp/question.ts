import type { JsonSchema } from '@allium/core'

/** A server's question during a call. */
export interface Question {
  readonly message: string
  /** The schema of the answers, an object. */
  readonly schema: JsonSchema
}

/** They fit the schema of a question, whose fields are of these types. */
export type Answers = Record<string, string | number | boolean | string[]>
/** The reply to the server: answers, or a refusal to answer. */
export type Reply = { action: 'accept'; content: Answers } | { action: 'decline' }
