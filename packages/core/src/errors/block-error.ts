const brand = Symbol.for('allium.block')

/** How a block ends the turn, beside its reason. */
export interface BlockOptions {
  /** The text of the result in the place of an answer. */
  reply?: string
  /** What happened, for programs: it stands in the result and in `turn:end`. */
  code?: string
  /** Milliseconds after which another try may pass. */
  retryAfter?: number
}

/** What `ctx.block()` throws to unwind the layers. It is a status of the result, never a crash; catching it changes nothing. */
export class BlockError extends Error {
  override readonly name = 'BlockError'
  readonly reason: string
  readonly reply: string | undefined
  readonly code: string | undefined
  readonly retryAfter: number | undefined

  constructor(reason: string, options: string | BlockOptions = {}) {
    super(`Blocked: ${reason}`)
    const { reply, code, retryAfter } = typeof options === 'string' ? { reply: options } : options
    this.reason = reason
    this.reply = reply
    this.code = code
    this.retryAfter = retryAfter
    Object.defineProperty(this, brand, { value: true })
  }
}

export function isBlockError(value: unknown): value is BlockError {
  return typeof value === 'object' && value !== null && brand in value
}
