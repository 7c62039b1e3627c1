import { reasonText } from './describe.ts'
import { checkOptions, type KeysOf } from './known-options.ts'

const brand = Symbol.for('allium.block')

/** Options of a block, besides its reason. */
export interface BlockOptions {
  /** Becomes the text of the result. */
  reply?: string | undefined
  /** The rule, for programs, such as `guard.budget`. Appears in the result and in `turn:end`. */
  code?: string | undefined
  /** Milliseconds after which a retry makes sense. */
  retryAfter?: number | undefined
}

const ofBlock: KeysOf<BlockOptions> = { reply: true, code: true, retryAfter: true }

/** Thrown by `ctx.block()` to unwind the layers. The run resolves with the status `blocked`, even if a layer catches this error. */
export class BlockError extends Error {
  override readonly name = 'BlockError'
  readonly reason: string
  readonly reply: string | undefined
  /** The rule, for programs. */
  readonly code: string | undefined
  /** Milliseconds after which a retry makes sense. */
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

/** Recognizes a BlockError by its brand, which also works across two copies of the package in one program. */
export function isBlockError(value: unknown): value is BlockError {
  return typeof value === 'object' && value !== null && brand in value
}
