import type { ErrorCode } from './codes.ts'

const brand = Symbol.for('allium.error')

export interface AlliumErrorOptions {
  cause?: unknown | undefined
  /** What the message speaks of, for programs: a layer's name, a state key, the issues of a schema. */
  details?: Record<string, unknown> | undefined
  /** Whether the message may be shown to the model or to an end user. @default false */
  expose?: boolean | undefined
}

/**
 * The one error class of Allium. `code` is from a closed table, so that callers can switch on it;
 * the message says what happened, with the value, and then what to do.
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

/** Tells an AlliumError by its brand, so that two copies of the package in one program agree. */
export function isAlliumError(value: unknown, code?: ErrorCode): value is AlliumError {
  if (typeof value !== 'object' || value === null || !(brand in value)) return false
  return code === undefined || (value as { code?: unknown }).code === code
}
