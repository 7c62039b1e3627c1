import { type AgentRun, isAlliumError, type RunSignal } from '@allium/core'
import type { Entry, RunEvent } from '@allium/durable/log'

export interface InboxOptions {
  readonly sessionId: string
  readonly turnId: string
  /** Takes what the run itself does not tell. */
  push(entry: Entry): void
}

/** What clients ask of a run that goes on, from whichever process: of each message the stream tells once what became of it. */
export class Inbox {
  readonly #run: AgentRun<unknown>
  readonly #options: InboxOptions
  /** The messages of which the stream has told. */
  readonly #told = new Set<string>()
  #stepIndex = 0

  constructor(run: AgentRun<unknown>, options: InboxOptions) {
    this.#run = run
    this.#options = options
  }

  async hear(signal: RunSignal): Promise<void> {
    if (signal.stop === true) return this.#run.abort('stopped by a client')
    const { steer, id } = signal
    try {
      await this.#run.steer({ role: 'user', content: steer }, { id })
    } catch (error) {
      this.giveBack(id, isAlliumError(error) ? error.message : 'A layer failed that looked at it.')
    }
  }

  /** The run tells of most messages itself. */
  sees(event: RunEvent): void {
    if (event.type === 'step:start') this.#stepIndex = (event as { stepIndex: number }).stepIndex
    if (event.type === 'steer:heard' || event.type === 'steer:returned') this.#told.add((event as { id: string }).id)
  }

  giveBack(id: string, reason: string): void {
    if (this.#told.has(id)) return
    this.#told.add(id)
    const { sessionId, turnId, push } = this.#options
    push({ event: { type: 'steer:returned', sessionId, turnId, stepIndex: this.#stepIndex, id, reason } })
  }
}
