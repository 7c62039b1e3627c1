import {
  type Approval,
  type Identity,
  type Message,
  type ModelResponse,
  messageOf,
  type ToolResult,
} from '@allium/core'
import { errorType } from '../error-type.ts'
import { errorDetail } from '../failure.ts'
import { canonicalJson, toPlainData } from '../plain-data.ts'
import type { Digest } from './seal.ts'

/** The fields of a record besides actor, time and place. A content value is recorded in clear text or as a digest. */
export type AuditFields = Record<string, unknown>

/** Text from users, models and tools. */
export class Content {
  readonly #value: unknown
  readonly #json: string

  /** Copies the value, because layers may change it before the record is written. */
  constructor(value: unknown) {
    this.#value = toPlainData(value)
    this.#json = canonicalJson(this.#value)
  }

  equals(other: Content): boolean {
    return this.#json === other.#json
  }

  async toField(digest: Digest, whole: boolean): Promise<unknown> {
    return whole ? this.#value : `digest:${await digest(this.#json)}`
  }
}

export async function resolveFields(fields: AuditFields, digest: Digest, whole: boolean): Promise<AuditFields> {
  const entries = Object.entries(fields).map(
    async ([key, value]): Promise<[string, unknown]> => [
      key,
      value instanceof Content ? await value.toField(digest, whole) : value,
    ],
  )
  return Object.fromEntries(await Promise.all(entries))
}

/** Returns the type of an error in clear text; its message is content, because it may quote anything. */
function errorFields(error: unknown): AuditFields {
  return { error: errorType(error), message: new Content(messageOf(error)) }
}

export function contentOfMessages(messages: readonly Message[]): Content {
  return new Content(messages.map(({ role, content }) => ({ role, content })))
}

/** Returns a human's decision as one word, with the approver. */
export function approvalFields(approval: Approval | undefined, by: Identity | undefined): AuditFields {
  if (approval === undefined) return {}
  const approvedBy = by === undefined ? {} : { approvedBy: { ...by } }
  if ('deny' in approval) return { approval: 'denied', ...approvedBy }
  return { approval: 'args' in approval ? 'edited' : 'approved', ...approvedBy }
}

export function responseFields({ model, finishReason, usage, toolCalls, text }: ModelResponse): AuditFields {
  const calls = toolCalls.map(({ callId, name }) => ({ callId, name }))
  return { status: 'ok', model, finishReason, usage, calls, answer: new Content(text) }
}

export function resultFields({ status, content, error }: ToolResult): AuditFields {
  const reason = status === 'denied' && typeof content === 'string' && { reason: truncate(content) }
  return { status, ...reason, result: new Content(content), ...(error !== undefined && errorFields(error)) }
}

/** A reason that a layer gave is recorded in clear text; an error's message is content. */
export function reasonFields({
  status,
  reason,
  error,
}: {
  status: string
  reason?: string | undefined
  error?: unknown
}): AuditFields {
  if (status === 'failed') return errorFields(error)
  const why = error === undefined ? reason : errorDetail(error)
  return why === undefined ? {} : { reason: truncate(why) }
}

const truncate = (text: string): string => text.slice(0, 300)
