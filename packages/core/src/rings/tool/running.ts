import { AlliumError } from '../../errors/allium-error.ts'
import { watch } from '../../errors/thenable.ts'
import type { NarrowCancel } from '../../onion/cancel.ts'
import type { Deadline } from '../../seams/deadlines.ts'
import type { AnyTool } from '../../tool/tool.ts'
import type { ToolResult } from '../../tool/tool-result.ts'
import type { ToolAttempt } from './context.ts'

/** Converts a tool's return value or error to a result. */
interface Shapes {
  shape(core: ToolAttempt, value: unknown): ToolResult
  failed(core: ToolAttempt, error: unknown): ToolResult
}

/** Receives the outcome of a tool. */
export interface Outcome {
  done(core: ToolAttempt, result: ToolResult): void
  /** The attempt was abandoned before the tool returned. */
  abandoned(core: ToolAttempt, reason: unknown): void
}

/** A running tool. It ends when the tool settles, times out or is abandoned, whichever comes first. */
export class Running {
  readonly #core: ToolAttempt
  readonly #tool: AnyTool
  readonly #cancel: NarrowCancel
  readonly #shapes: Shapes
  #open = true
  #deadline: Deadline | undefined
  readonly #outcome: Outcome

  constructor(core: ToolAttempt, tool: AnyTool, cancel: NarrowCancel, shapes: Shapes, outcome: Outcome) {
    this.#core = core
    this.#tool = tool
    this.#cancel = cancel
    this.#shapes = shapes
    this.#outcome = outcome
  }

  until(running: PromiseLike<unknown>): void {
    const core = this.#core
    core.$work = this
    const { agent } = core.$turn.session
    const ms = this.#tool.timeout ?? agent.setup.toolTimeout
    this.#deadline = core.$turn.lifecycle.deadlines.add(ms, () => this.#late(ms))
    watch(
      running,
      (value) => this.#settle(this.#shapes.shape, value),
      (error) => this.#settle(this.#shapes.failed, error),
    )
  }

  /** Cancels the tool, because its attempt was abandoned. */
  abandon(reason: unknown): void {
    if (!this.#open) return
    this.#close()
    this.#cancel.abort(reason)
    this.#outcome.abandoned(this.#core, reason)
  }

  /** The tool timed out. From now on its actions have no effect, and its result is dropped. */
  #late(ms: number): void {
    const error = tooSlow(this.#core, ms)
    this.#core.$timedOut = true
    this.#settle(this.#shapes.failed, error)
    this.#cancel.abort(new DOMException(error.message, 'TimeoutError'))
  }

  #settle(shaped: Shapes['shape'], value: unknown): void {
    if (!this.#open) return
    this.#close()
    this.#outcome.done(this.#core, shaped(this.#core, value))
  }

  #close(): void {
    this.#open = false
    if (this.#deadline !== undefined) this.#core.$turn.lifecycle.deadlines.remove(this.#deadline)
    this.#cancel.release()
    this.#core.$work = undefined
  }
}

function tooSlow({ $call: { name } }: ToolAttempt, ms: number): AlliumError {
  const message = `The tool "${name}" took longer than ${ms} ms.`
  return new AlliumError('tool.timeout', message, { expose: true, details: { tool: name, ms } })
}
