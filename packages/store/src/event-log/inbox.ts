import { type AgentRun, isAlliumError } from '@allium/core'
import type { RunKey, RunSignal } from '@allium/store'
import type { Entry, RunEvent } from './entry.ts'

type SteerSignal = Exclude<RunSignal, { readonly stop: true }>

/** Steering messages to a running run, from any process. The stream reports once per message whether it was delivered or rejected. */
export class Inbox {
  readonly #run: RunKey
  readonly #push: (entry: Entry) => void
  /** Messages whose outcome the stream has reported. */
  readonly #settled = new Set<string>()
  #stepIndex = 0

  /** @param push receives events that the run does not emit itself */
  constructor(run: RunKey, push: (entry: Entry) => void) {
    this.#run = run
    this.#push = push
  }

  async deliver(run: Pick<AgentRun<unknown, unknown>, 'steer'>, { steer, id }: SteerSignal): Promise<void> {
    try {
      await run.steer({ role: 'user', content: steer }, { id })
    } catch (error) {
      this.reject(id, isAlliumError(error) ? error.message : 'A layer that checked it failed.')
    }
  }

  /** Tracks the events of the run, which reports most messages itself. */
  observe(event: RunEvent): void {
    if ('path' in event) return
    if (event.type === 'step:start') this.#stepIndex = (event as { stepIndex: number }).stepIndex
    if (event.type === 'steer:delivered' || event.type === 'steer:rejected')
      this.#settled.add((event as { id: string }).id)
  }

  reject(id: string, reason = 'The turn had its answer.'): void {
    if (this.#settled.has(id)) return
    this.#settled.add(id)
    const { key, turnId } = this.#run
    const of = { sessionId: key.sessionId, turnId, stepIndex: this.#stepIndex }
    this.#push({ event: { type: 'steer:rejected', ...of, id, reason } })
  }
}
