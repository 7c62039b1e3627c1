import { AlliumError, isAlliumError } from '../../errors/allium-error.ts'
import { isBlockError } from '../../errors/block-error.ts'
import { messageOf } from '../../errors/describe.ts'
import type { Message } from '../../messages/message.ts'
import { State } from '../../onion/attempt.ts'
import { inheritedInputs, throughSteerLayers } from './inputs.ts'
import type { Turn } from './turn.ts'

/** What became of a message that was put into a running turn. */
export interface Steered {
  /** It stands in the history, before a step of the turn. */
  readonly heard: boolean
  /** Why it does not: it is given back, and nothing of it is kept. */
  readonly reason?: string
  /** Of a message that a layer has blocked: which rule it was, for programs. */
  readonly code?: string
}

/** A message for a running turn, until it is heard or given back. */
export interface Steer {
  /** What events name it by; undefined for one that the turn gives it. */
  readonly id: string | undefined
  readonly message: Message
  settle(outcome: Steered): void
  fail(error: unknown): void
}

type Named = Steer & { readonly id: string }

/** What a journal keeps of one that was heard. */
interface Recorded {
  readonly id: string
  readonly message: Message
  /** The step before which it was heard. */
  readonly before: number
}

/** Messages that come in while a turn runs: each passes what guards do to an input, then stands before the turn's next step. */
export class Steering {
  readonly #turn: Turn
  #mailbox: Named[] = []
  /** Those that have passed, for the next step. */
  #admitted: Named[] = []
  #added = 0
  /** How many the journal knows. */
  #count = 0
  #recorded: Recorded | undefined
  #over = false

  constructor(turn: Turn) {
    this.#turn = turn
  }

  add(given: Steer): void {
    const steer = { ...given, id: given.id ?? `${this.#turn.turnId}:steered:${++this.#added}` }
    const { core } = this.#turn.lifecycle
    if (this.#over || this.#turn.lifecycle.isOver || (core !== undefined && core.$state !== State.running))
      return this.#reject(steer, endReason(this.#turn))
    const fault = core === undefined ? undefined : unguarded(this.#turn)
    if (fault !== undefined) return this.#fail(steer, fault)
    this.#mailbox.push(steer)
  }

  /** Whether there is something to hear before a step. Those that wait pass the layers, one after the other. */
  async checkInbox(before: number): Promise<boolean> {
    await this.#replay(before)
    for (let steer = this.#mailbox[0]; steer !== undefined && !this.#over; steer = this.#mailbox[0]) {
      await this.#admit(steer, before)
      if (this.#mailbox[0] === steer) this.#mailbox.shift()
    }
    return this.#admitted.length > 0
  }

  /** What has passed enters the history. */
  hear(): void {
    const turn = this.#turn
    for (const { id, message, settle } of this.#admitted.splice(0)) {
      turn.view.commit({ ...message, steer: id })
      turn.send({ type: 'steer:heard', ...turn.location, id })
      settle({ heard: true })
    }
  }

  /** The loop has no next step: what was not heard is its senders'. */
  close(): void {
    this.#over = true
    for (const steer of [...this.#admitted.splice(0), ...this.#mailbox.splice(0)])
      this.#reject(steer, endReason(this.#turn))
  }

  async #admit(steer: Named, before: number): Promise<void> {
    const turn = this.#turn
    try {
      const fault = unguarded(turn)
      if (fault !== undefined) throw fault
      const message = await throughSteerLayers(steer.message, [
        ...inheritedInputs(turn.session),
        ...(turn.inputs ?? []),
      ])
      if (this.#over) return
      if (message === null) return this.#reject(steer, 'A layer left it out.')
      const record: Recorded = { id: steer.id, message, before }
      await turn.journal.step(
        this.#stepId(),
        () => record,
        () => {},
      )
      this.#count++
      if (!this.#over) this.#admitted.push({ ...steer, message })
    } catch (error) {
      if (this.#over) return
      if (turn.lifecycle.isOver) return this.#reject(steer, endReason(turn))
      if (!isBlockError(error)) return this.#fail(steer, error)
      this.#reject(steer, error.reason, error.code)
    }
  }

  /** What was heard here before the run was replayed. Its senders are gone. */
  async #replay(before: number): Promise<void> {
    const { journal } = this.#turn
    for (;;) {
      if (this.#recorded === undefined) {
        if ((await journal.known?.(this.#stepId())) !== true) return
        this.#recorded = (await journal.step(this.#stepId(), neverRuns, () => {})) as Recorded
      }
      if (this.#recorded.before !== before) return
      this.#admitted.push({ ...this.#recorded, settle() {}, fail() {} })
      this.#recorded = undefined
      this.#count++
    }
  }

  #stepId(): string {
    return `${this.#turn.turnId}:steer:${this.#count + 1}`
  }

  #fail({ id, fail }: Named, error: unknown): void {
    this.#emitRejected(id, isAlliumError(error) ? error.message : 'A layer failed that looked at it.')
    fail(error)
  }

  #emitRejected(id: string, reason: string): void {
    this.#turn.send({ type: 'steer:returned', ...this.#turn.location, id, reason })
  }

  #reject({ id, settle }: Named, reason: string, code?: string): void {
    this.#emitRejected(id, reason)
    settle({ heard: false, reason, ...(code !== undefined && { code }) })
  }
}

/** A layer that looks at the input and would not see this one: it may be a guard. */
function unguarded({ view, inputs = [], turnId }: Turn): AlliumError | undefined {
  const guarded = new Set<unknown>(inputs.map(({ layer }) => layer))
  const blind = [...(view.readers ?? [])].find((layer) => !guarded.has(layer))
  if (blind === undefined) return undefined
  const name = blind.$hook?.name
  return new AlliumError(
    'steer.unguarded',
    `The layer "${name}" reads ctx.input before next(), so it would miss a message that is sent while the turn "${turnId}" runs. Use ctx.onInput(), or declare order: { is: ['observes'] }.`,
    { details: { layer: name } },
  )
}

function endReason({ lifecycle: { end }, stopReason, isSuspended }: Turn): string {
  if (end !== undefined) return end.kind === 'failed' ? 'The run failed.' : messageOf(end.error)
  if (isSuspended) return 'Tool calls wait for a decision.'
  return stopReason === undefined ? 'The turn had its answer.' : `The turn was stopped: ${stopReason}`
}

function neverRuns(): never {
  throw new AlliumError('run.failed', 'A step that the journal knows was to run again.')
}
