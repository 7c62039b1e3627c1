import { AlliumError, isAlliumError } from '../errors/allium-error.ts'
import { isBlockError } from '../errors/block-error.ts'
import { messageOf } from '../errors/describe.ts'
import type { StreamEvent } from '../events/events.ts'
import { checkMessage } from '../messages/check-messages.ts'
import type { Message } from '../messages/message.ts'
import { State } from '../onion/attempt.ts'
import { type Journal, noItems } from '../ports/journal.ts'
import type { InputStep } from '../session/scope/parent-call.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import { inheritedInputs, type Steer } from './inputs.ts'
import type { Transcript } from './transcript.ts'
import type { TurnLifecycle } from './turn-lifecycle.ts'
import type { WorkingView } from './working-view.ts'

type Named = Steer & { readonly id: string }

/** The journal's record of a delivered message. */
interface Recorded {
  readonly id: string
  readonly message: Message
  /** The step before which it was delivered. */
  readonly before: number
}

/** The turn that messages are sent to. */
interface SteeringHost {
  readonly turnId: string
  readonly session: SessionScope
  readonly journal: Journal
  readonly inputs: readonly InputStep[] | undefined
  readonly view: WorkingView
  readonly transcript: Transcript
  readonly lifecycle: Pick<TurnLifecycle, 'core' | 'end' | 'isOver'>
  readonly location: { sessionId: string; turnId: string; stepIndex: number }
  readonly stopReason: string | undefined
  readonly isSuspended: boolean
  send(event: StreamEvent): void
}

/**
 * Delivers messages that arrive while a turn runs. Each passes through the input guards and is added to the history
 * before the turn's next step.
 */
export class Steering {
  readonly #turn: SteeringHost
  #mailbox: Named[] = []
  /** Messages that have passed the layers and wait for the next step. */
  #admitted: Named[] = []
  #added = 0
  /** How many messages the journal has recorded. */
  #count = 0
  #recorded: Recorded | undefined
  #over = false

  constructor(turn: SteeringHost) {
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

  /**
   * Passes the waiting messages through the layers, one after the other. Returns whether there is one to deliver before
   * this step.
   */
  async checkInbox(before: number): Promise<boolean> {
    await this.#replay(before)
    for (let steer = this.#mailbox[0]; steer !== undefined && !this.#over; steer = this.#mailbox[0]) {
      await this.#admit(steer, before)
      if (this.#mailbox[0] === steer) this.#mailbox.shift()
    }
    return this.#admitted.length > 0
  }

  /** Adds the admitted messages to the history. */
  deliver(): void {
    const turn = this.#turn
    for (const { id, message, settle } of this.#admitted.splice(0)) {
      turn.transcript.add({ ...message, steer: id })
      turn.send({ type: 'steer:delivered', ...turn.location, id })
      settle({ delivered: true })
    }
  }

  /** The loop has no next step. Rejects the messages that were not delivered. */
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
      const message = await throughLayers(steer.message, [...inheritedInputs(turn.session), ...(turn.inputs ?? [])])
      if (this.#over) return
      if (message === null) return this.#reject(steer, 'A layer left it out.')
      const record: Recorded = { id: steer.id, message, before }
      await turn.journal.step(this.#stepId(), () => record, noItems)
      this.#count++
      if (!this.#over) this.#admitted.push({ ...steer, message })
    } catch (error) {
      if (this.#over) return
      if (turn.lifecycle.isOver) return this.#reject(steer, endReason(turn))
      if (!isBlockError(error)) return this.#fail(steer, error)
      this.#reject(steer, error.reason, error.code)
    }
  }

  /** Restores the messages that were delivered before the replay. Their senders are gone. */
  async #replay(before: number): Promise<void> {
    const { journal } = this.#turn
    for (;;) {
      if (this.#recorded === undefined) {
        if ((await journal.known?.(this.#stepId())) !== true) return
        this.#recorded = (await journal.step(this.#stepId(), neverRuns, noItems)) as Recorded
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
    this.#emitRejected(id, isAlliumError(error) ? error.message : 'A layer that read it failed.')
    fail(error)
  }

  #emitRejected(id: string, reason: string): void {
    this.#turn.send({ type: 'steer:rejected', ...this.#turn.location, id, reason })
  }

  #reject({ id, settle }: Named, reason: string, code?: string): void {
    this.#emitRejected(id, reason)
    settle({ delivered: false, reason, ...(code !== undefined && { code }) })
  }
}

/** Passes a steered message through the layers. A block rejects only this message. */
async function throughLayers(message: Message, steps: readonly InputStep[]): Promise<Message | null> {
  let now = message
  for (const { fn, layer, ctx = layer } of steps) {
    layer.$inspectsSteered = true
    try {
      const given = await fn(now, { steered: true, ctx })
      if (given === null) return null
      if (given === undefined) continue
      checkMessage(given, `The message from "${layer.$hook?.name}"`, 'layer.result')
      now = given
    } finally {
      layer.$inspectsSteered = false
    }
  }
  return now
}

/** Returns an error if a layer reads the input but would not see this message: the layer may be a guard. */
function unguarded({ view, inputs = [] }: SteeringHost): AlliumError | undefined {
  const guarded = new Set<unknown>(inputs.map(({ layer }) => layer))
  const blind = [...(view.readers ?? [])].find((layer) => !guarded.has(layer))
  if (blind === undefined) return undefined
  const name = blind.$hook?.name
  return new AlliumError(
    'steer.unguarded',
    `The layer "${name}" reads ctx.input before next(), so it would miss a message of steer(). Use ctx.onInput(), or declare order: { is: ['observes'] }.`,
    { details: { layer: name } },
  )
}

function endReason({ lifecycle: { end }, stopReason, isSuspended }: SteeringHost): string {
  if (end !== undefined) return end.kind === 'failed' ? 'The run failed.' : messageOf(end.error)
  if (isSuspended) return 'Tool calls wait for a decision.'
  return stopReason === undefined ? 'The turn had its answer.' : `The turn was stopped: ${stopReason}`
}

function neverRuns(): never {
  throw new AlliumError('run.failed', 'A recorded step would run again.')
}
