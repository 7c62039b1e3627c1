import { reasonText } from './describe.ts'
import { checkOptions, type KeysOf } from './known-options.ts'

const brand = Symbol.for('allium.block')

/** What is said of a block beside its reason. */
export interface BlockOptions {
  /** Becomes the text of the result. */
  reply?: string | undefined
  /** For programs, such as `guard.budget`: stands in the result and in `turn:end`. */
  code?: string | undefined
  /** Milliseconds after which it is worth another try. */
  retryAfter?: number | undefined
}

const ofBlock: KeysOf<BlockOptions> = { reply: true, code: true, retryAfter: true }

/** What `ctx.block()` throws to unwind the layers. It is a status of the result, never a crash; catching it changes nothing. */
export class BlockError extends Error {
  override readonly name = 'BlockError'
  readonly reason: string
  readonly reply: string | undefined
  /** For programs: which rule it was. */
  readonly code: string | undefined
  /** Milliseconds after which it is worth another try. */
  readonly retryAfter: number | undefined

  constructor(reason: string, options: BlockOptions = {}) {
    checkOptions(options, ofBlock, 'block()', 'layer.invalid')
    const { reply, code, retryAfter } = options
    const text = reasonText(reason, 'blocked')
    super(`Blocked: ${text}`)
    this.reason = text
    this.reply = reply
    this.code = code
    this.retryAfter = retryAfter
    Object.defineProperty(this, brand, { value: true })
  }
}

/** Tells a BlockError by its brand, so that two copies of the package in one program agree. */
export function isBlockError(value: unknown): value is BlockError {
  return typeof value === 'object' && value !== null && brand in value
}
