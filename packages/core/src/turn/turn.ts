import type { TurnView } from '../contexts/turn.ts'
import { reasonText } from '../errors/describe.ts'
import type { CustomEvent, StreamEvent } from '../events/events.ts'
import type { Message } from '../messages/message.ts'
import { noUsage, type Usage } from '../messages/usage.ts'
import type { Attempt } from '../onion/attempt.ts'
import type { Hook } from '../onion/hook.ts'
import { Capabilities } from '../ports/capability.ts'
import type { Journal } from '../ports/journal.ts'
import type { StoredRecord } from '../ports/session-store.ts'
import type { SessionCall } from '../session/scope/context.ts'
import type { InputStep } from '../session/scope/parent-call.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { Answer } from './answer.ts'
import type { Display } from './display.ts'
import { Finalizers } from './finalizers.ts'
import type { Steer } from './inputs.ts'
import { Once } from './once.ts'
import type { Steering } from './steering.ts'
import type { Steps } from './steps.ts'
import { Transcript } from './transcript.ts'
import { TurnLifecycle } from './turn-lifecycle.ts'
import type { TurnOptions } from './turn-options.ts'
import { WorkingView } from './working-view.ts'

/** A turn, or a call inside it. */
export interface CallOfTurn extends SessionCall {
  readonly turn: Turn
}

/** The rings that a turn and its calls run in. */
export type TurnRings = Readonly<Record<'turn' | 'model' | 'tool', CallOfTurn['ring']>>

/** A turn, from one input to one answer: the state that its layers, calls and tools share. */
export class Turn implements CallOfTurn {
  readonly turn: Turn = this
  readonly ring: CallOfTurn['ring']
  readonly home: SessionScope
  attempts = 1
  readonly hooks: readonly Hook[]
  readonly turnId: string
  readonly journal: Journal
  /** Journal steps of this turn; undefined without a journal. */
  steps: Steps | undefined
  readonly turnIndex: number
  readonly startedAt: number
  /** The id of the turn's first run, if it was resumed. Otherwise the turn's own. */
  readonly rootId: string
  readonly usage: Usage = noUsage()
  readonly events: RunEvents
  /** Tracks what runs in it, and ends it early. */
  readonly lifecycle: TurnLifecycle
  /** The messages that its model calls start from. */
  readonly view: WorkingView
  readonly transcript: Transcript
  readonly answer: Answer
  /** The layers' `onInput()` functions. */
  inputs: InputStep[] | undefined
  /** Maps the output for the run's own reader, if a layer does. */
  display: Display | undefined
  /** Delivers the messages that arrive while it runs. Loaded with the first one. */
  steering: Steering | undefined
  /** The messages that arrived before `steering` was loaded. */
  inbox: Steer[] | undefined
  readonly toolCalls: ToolCallRecord[] = []
  /** Records of layers and tools, to be stored with the run. */
  records: StoredRecord[] | undefined
  maxSteps: number
  stepIndex: number
  /** The number of model calls so far. Without one, the pipes of the turn layers have no stream. */
  callIndex = 0
  stopReason: string | undefined
  /** Suspended calls, of those that this run made. */
  suspendedCalls: CallOfTurn[] | undefined
  /** The loop has ended because of suspended calls. */
  isSuspended = false
  /** Another process continues the run, so its outcome here is not final. */
  isLost = false
  /** The structured output of a completed run. */
  structuredOutput: unknown
  /** The finalizers, if any were added. */
  startedFinalizers: Finalizers | undefined
  /** `turn:end` was emitted, so nothing changes any more. */
  hasEnded = false
  readonly metadata: Record<string, unknown> = {}
  #instructions: string | undefined
  #capabilities: Capabilities | undefined
  #once: Once | undefined

  constructor(
    readonly rings: TurnRings,
    readonly session: SessionScope,
    readonly options: TurnOptions,
  ) {
    this.ring = rings.turn
    this.home = session
    this.hooks = options.onion.turn
    this.turnIndex = session.turnCount
    this.turnId = session.nextTurnId(options.turnId)
    this.startedAt = options.began?.at ?? session.clock.now()
    this.journal = options.journal
    this.maxSteps = options.maxSteps
    this.events = options.events
    this.lifecycle = new TurnLifecycle(this)
    this.view = new WorkingView(session, options.input)
    this.transcript = new Transcript(session, this.view)
    this.answer = new Answer(this)
    const suspension = options.resume?.suspension
    this.rootId = suspension?.rootId ?? this.turnId
    this.stepIndex = suspension?.stepIndex ?? 0
    this.stopReason = suspension?.stopReason
  }

  /** The tool call that runs this turn, if it is a sub-agent's. */
  get outer(): Attempt | undefined {
    return this.session.parent
  }
  get end(): TurnLifecycle['end'] {
    return this.lifecycle.end
  }
  /** The instructions as the first message of a call, if there are any. */
  get system(): Message | undefined {
    const { instructions } = this.session.agent.setup
    const content = typeof instructions === 'function' ? this.#instructions : instructions
    return content === undefined || content === '' ? undefined : { role: 'system', content }
  }
  get capabilities(): Capabilities {
    return (this.#capabilities ??= new Capabilities(this.session.capabilities))
  }
  get finalizers(): Finalizers {
    return (this.startedFinalizers ??= new Finalizers(this))
  }

  /** The ids for events of this step. On Node 20, naming them in an event takes a fifth of the time of a spread. */
  get location(): { sessionId: string; turnId: string; stepIndex: number } {
    return { sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex }
  }

  /** Calls the instructions function once. A replay reuses the recorded instructions. */
  instruct(ctx: TurnView): Promise<void> | undefined {
    const { instructions } = this.session.agent.setup
    if (typeof instructions !== 'function' || this.#instructions !== undefined) return undefined
    const given = this.onces.inAttempt('instructions', () => instructions(ctx))
    return Promise.resolve(given).then((text) => void (this.#instructions = text))
  }

  /** Sends an event to the run's stream, and a copy to observers. Drops events after `turn:end`. */
  send(event: StreamEvent | CustomEvent): void {
    if (this.hasEnded) return
    if (this.display !== undefined) {
      if (event.type === 'model:reset') this.display.reset()
      else this.display.flush()
    }
    void this.events.push(event)
    this.observe(event)
  }
  observe(event: StreamEvent | CustomEvent): void {
    const { observers } = this.session.agent
    if (observers.events.has(event.type)) observers.emit(event.type, { ...event })
  }

  get onces(): Once {
    return (this.#once ??= new Once(this))
  }

  steer(steer: Steer): void {
    if (this.steering !== undefined) return this.steering.add(steer)
    this.inbox = [...(this.inbox ?? []), steer]
    this.loadSteering().catch(steer.fail)
  }
  /** Loads `steering`, which takes the messages from the inbox. */
  async loadSteering(): Promise<void> {
    const { Steering: Loaded } = await import('../later.ts')
    this.steering ??= new Loaded(this)
    for (const message of this.inbox ?? []) this.steering.add(message)
    this.inbox = undefined
  }

  stop(reason: string): void {
    if (!this.lifecycle.isSettled) this.stopReason ??= reasonText(reason, 'stopped')
  }

  settled(): void {
    this.lifecycle.isSettled = true
  }
  abandoned(layers: readonly Attempt[]): void {
    this.lifecycle.gracePeriod.abandoned(layers)
  }
  returned(layer: Attempt): void {
    this.lifecycle.gracePeriod.returned(layer)
  }
  late(attempt: Attempt, verb: string): void {
    this.lifecycle.gracePeriod.late(attempt, verb)
  }
}
