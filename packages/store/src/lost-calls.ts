import { AlliumError, type LayerEvent, type StreamEvent } from '@allium/core'
import type { CodeShape } from './code-shape.ts'
import type { RecordedStep } from './run-store.ts'

/**
 * Finds tool calls that the former process may have been running when it was lost, and that the code no longer runs: its tool is gone, or
 * does not accept the arguments. The start of a call is not recorded, so this is only known from the answer that requested it.
 */
export class LostCalls {
  /** The last recorded model call, by turn. */
  readonly #lastAnswers = new Map<string, number>()
  /** The last recorded answers that were given other tools than the code has. */
  readonly #changed = new Set<string>()
  readonly #requested = new Set<string>()
  readonly #code: readonly [began: CodeShape, now: CodeShape] | undefined
  #lost: AlliumError | undefined

  /** @param code the agent's code at the start of the run, and that of this process. It does not have the tools of sub-agents */
  constructor(steps: readonly RecordedStep[], code?: readonly [began: CodeShape, now: CodeShape]) {
    this.#code = code
    for (const { id } of steps) {
      const [, turnId = '', index] = modelStep.exec(id) ?? []
      if (index !== undefined) this.#lastAnswers.set(turnId, Math.max(Number(index), this.#last(turnId)))
    }
  }

  /** The code requests a step. */
  request(id: string): void {
    if (this.#lastAnswers.size > 0) this.#requested.add(id.replace(/:\d+$/, ''))
  }

  /** Called with each event of the run. */
  see(event: Event): void {
    const { turnId, stepIndex } = event as { turnId: string; stepIndex: number }
    const answer = `${turnId} ${stepIndex}`
    if (isDrift(event)) {
      const isLast = Number(modelStep.exec(event.step)?.[2]) === this.#last(turnId)
      if (isLast && event.differs.includes('tool definitions')) this.#changed.add(answer)
    } else if (isEnd(event) && event.status === 'error' && this.#changed.has(answer)) {
      const step = `${turnId}:tool:${event.callId}`
      if (!this.#requested.has(step) && !this.#isSame(event)) this.#lost ??= lost(step, event)
    }
  }

  /** Called before a step that is not recorded. @throws AlliumError `journal.diverged` */
  async check(): Promise<void> {
    if (this.#lastAnswers.size === 0) return
    // The reader of the run takes all its events before the next task.
    await new Promise((resolve) => setImmediate(resolve))
    this.throwIfLost()
  }

  /** @throws AlliumError `journal.diverged` */
  throwIfLost(): void {
    if (this.#lost !== undefined) throw this.#lost
  }

  /** Whether the former process could not run the call either. */
  #isSame({ name, ...event }: { name: string }): boolean {
    const [began, now] = this.#code ?? []
    return began !== undefined && !('path' in event) && began.tools[name] === now?.tools[name]
  }

  #last(turnId: string): number {
    return this.#lastAnswers.get(turnId) ?? -1
  }
}

const modelStep = /^(.*):model:(\d+):\d+$/s
/** An event of a run. */
export type Event = StreamEvent | LayerEvent
const isDrift = (event: Event): event is Extract<StreamEvent, { type: 'journal:drift' }> =>
  event.type === 'journal:drift'
const isEnd = (event: Event): event is Extract<StreamEvent, { type: 'tool:end' }> => event.type === 'tool:end'

function lost(step: string, { callId, name }: { callId: string; name: string }): AlliumError {
  return new AlliumError(
    'journal.diverged',
    `The call "${callId}" of the tool "${name}" has no recorded result, so it may have run when the process was lost. The current code cannot run it, so its effect would be lost. Nothing else was run. Continue the run with the version of the code that began it.`,
    { details: { step, differs: ['not requested'] } },
  )
}
