import { Cancel } from '../../onion/cancel.ts'
import { type Hook, Passage } from '../../onion/hook.ts'
import { layerError } from '../../onion/misuse.ts'
import { type Frame, Phase, pass } from '../../onion/next.ts'

/** The onion of a scope that stays open: its layers run up to next() at open(), and on at close(). */
export class Gate extends Passage {
  readonly #view: (frame: Frame) => object
  #entered: (() => void) | undefined
  #reached = false
  #leave: (() => void) | undefined
  #whole: Promise<unknown> | undefined

  constructor(
    scope: 'agent' | 'session',
    hooks: readonly Hook[],
    override readonly home: object,
    view: (frame: Frame) => object,
  ) {
    super(scope, hooks, new Cancel())
    this.#view = view
  }

  /** Resolves when every layer has called next(); rejects, with the opened ones unwound, when one throws before. */
  async open(): Promise<void> {
    if (this.hooks.length === 0) return
    const entered = new Promise<void>((resolve) => (this.#entered = resolve))
    this.#whole = Promise.resolve(pass(this))
    await Promise.race([entered, this.#whole])
    if (this.left) await this.#whole
  }

  /** Runs the rest of every layer; rejects with the first error. */
  async shut(): Promise<void> {
    this.#leave?.()
    await this.#whole
  }

  view(frame: Frame): object {
    return this.#view(frame)
  }

  core(): Promise<void> {
    this.#reached = true
    const left = new Promise<void>((resolve) => (this.#leave = resolve))
    this.#entered?.()
    return left
  }

  leaving(frame: Frame): void {
    if (frame.phase === Phase.idle) {
      const mend = `Write "await next()": the ${this.scope} lives inside it.`
      throw layerError(frame, 'layer.no_next', `returned without calling next(). ${mend}`)
    }
    if (frame.phase === Phase.failed && !this.#reached) throw frame.error
  }
}
