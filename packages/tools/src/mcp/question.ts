import type { JsonSchema } from '@allium/core'
import type { CallToolResult, CreateMessageRequest, ElicitRequestFormParams } from '@modelcontextprotocol/client'

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

/** What a server asks for as input; the form of a question is undefined if it has another kind, such as a URL. */
export type InputRequest =
  | { readonly method: 'elicitation/create'; readonly form: ElicitRequestFormParams | undefined }
  | { readonly method: 'sampling/createMessage'; readonly params: CreateMessageRequest['params'] }

/** A call that returned without a result, because the server needs input first (revision 2026-07-28). */
export interface InputNeeded {
  readonly resultType: 'input_required'
  readonly inputRequests: Readonly<Record<string, InputRequest>>
  readonly requestState?: string
  /** The task that waits, if the call became one. */
  readonly taskId?: string
}

export function isInputNeeded(result: CallToolResult | InputNeeded): result is InputNeeded {
  return result.resultType === 'input_required'
}

/** What a call that needed input goes on with. */
export interface Continuation {
  readonly inputResponses: Record<string, unknown>
  /** The server's own state, unchanged. */
  readonly requestState?: string | undefined
  readonly taskId?: string | undefined
}

const maxLength = 100_000

/** Whether a part of a question may be stored with a session. */
export function isStorable(value: unknown): boolean {
  return JSON.stringify(value).length <= maxLength
}

export function questionOf({ message, requestedSchema }: ElicitRequestFormParams): Question {
  return { message, schema: { ...requestedSchema } as JsonSchema }
}
