const brand = Symbol.for('allium.block')

/** What `ctx.block()` throws to unwind the layers. It is a status of the result, never a crash; catching it changes nothing. */
export class BlockError extends Error {
  override readonly name = 'BlockError'
  readonly reason: string
  readonly reply: string | undefined

  constructor(reason: string, reply?: string) {
    super(`Blocked: ${reason}`)
    this.reason = reason
    this.reply = reply
    Object.defineProperty(this, brand, { value: true })
  }
}

export function isBlockError(value: unknown): value is BlockError {
  return typeof value === 'object' && value !== null && brand in value
}
