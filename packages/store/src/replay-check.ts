import { AlliumError } from '@allium/core'

/** Matches the step of a model call (with its index) or of a tool call, but not the `:begin` of a tool. */
const callStep = /^(?:tool:.+|model:(\d+)):\d+$/

/**
 * Detects a replay that skips a recorded model or tool call, because its code has changed: the effect of the call would be lost, or
 * repeated. For implementations of `Journal`.
 */
export class ReplayCheck {
  readonly #unused: Set<string>

  /** @param recorded the ids of the recorded steps */
  constructor(recorded: Iterable<string>) {
    this.#unused = new Set(recorded)
  }

  /** Adds a step that was recorded by an earlier attempt. */
  add(id: string): void {
    this.#unused.add(id)
  }

  /** The replay requests a recorded step. */
  use(id: string): void {
    this.#unused.delete(id)
  }

  /** Called before a step that is not recorded. @throws AlliumError `journal.diverged` if a model call follows a skipped call */
  checkNew(id: string): void {
    if (this.#unused.size === 0) return
    const [, turnId, index] = /^(.*):model:(\d+):\d+$/s.exec(id) ?? []
    if (turnId !== undefined) this.#check(turnId, Number(index))
  }

  /** Called before a turn completes or suspends. @throws AlliumError `journal.diverged` */
  checkEnd(turnId: string): void {
    this.#check(turnId, Number.POSITIVE_INFINITY)
  }

  /** @param before the index of a model call. The recorded tool calls all precede a model call that is not recorded */
  #check(turnId: string, before: number): void {
    const prefix = `${turnId}:`
    for (const id of this.#unused) {
      const match = id.startsWith(prefix) ? callStep.exec(id.slice(prefix.length)) : null
      if (match !== null && Number(match[1] ?? -1) < before) throw skipped(id)
    }
  }
}

function skipped(step: string): AlliumError {
  return new AlliumError(
    'journal.diverged',
    `The step "${step}" is recorded, but the current code does not request it, so its effect would be lost. Nothing else was run. Continue the run with the version of the code that began it.`,
    { details: { step, differs: ['not requested'] } },
  )
}
