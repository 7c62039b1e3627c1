import { type Approval, type Identity, type Message, messageOf } from '@allium/core'
import { errorType } from '../error-type.ts'
import { canonicalJson, toPlainData } from '../plain-data.ts'
import type { Digest } from './seal.ts'

/** What a record tells beside who, when and where. A content stands for itself or, digested, for nothing but itself. */
export type AuditFields = Record<string, unknown>

/** Text of users, models and tools. */
export class Content {
  readonly #value: unknown
  readonly #json: string

  /** Copies the value: layers may change it before the record is written. */
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

/** An error by its kind; its message may quote anything. */
export function errorFields(error: unknown): AuditFields {
  return { error: errorType(error), message: new Content(messageOf(error)) }
}

export function contentOfMessages(messages: readonly Message[]): Content {
  return new Content(messages.map(({ role, content }) => ({ role, content })))
}

/** What a human has decided, in a word. */
export function approvalFields(approval: Approval | undefined, by: Identity | undefined): AuditFields {
  if (approval === undefined) return {}
  const approvedBy = by === undefined ? {} : { approvedBy: { ...by } }
  if ('deny' in approval) return { approval: 'denied', ...approvedBy }
  return { approval: 'args' in approval ? 'edited' : 'approved', ...approvedBy }
}
