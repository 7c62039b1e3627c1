import type { ErrorCode } from './codes.ts'

const brand = Symbol.for('allium.error')

export interface AlliumErrorOptions {
  cause?: unknown | undefined
  /** Data about the error, for programs: a layer's name, a state key, the issues of a schema. */
  details?: Record<string, unknown> | undefined
  /** Whether the message may be shown to the model or to an end user. @default false */
  expose?: boolean | undefined
}

/**
 * The only error class of Allium. `code` comes from a closed list, so that callers can switch on it.
 * The message says what happened, with the value, and then how to fix it.
 */
export class AlliumError extends Error {
  override readonly name = 'AlliumError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly expose: boolean

  constructor(code: ErrorCode, message: string, { cause, details = {}, expose = false }: AlliumErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.expose = expose
    Object.defineProperty(this, brand, { value: true })
  }
}

/** Recognizes an AlliumError by its brand, which also works across two copies of the package in one program. */
export function isAlliumError(value: unknown, code?: ErrorCode): value is AlliumError {
  if (typeof value !== 'object' || value === null || !(brand in value)) return false
  return code === undefined || (value as { code?: unknown }).code === code
}
