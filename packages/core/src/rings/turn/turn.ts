import { reasonText } from '../../errors/describe.ts'
import type { CustomEvent, LayerLate, StreamEvent } from '../../events/events.ts'
import type { Message } from '../../messages/message.ts'
import { fromJson, toJson } from '../../messages/plain-json.ts'
import { addUsage, noUsage, type Usage } from '../../messages/usage.ts'
import type { Attempt, Call, Ring } from '../../onion/attempt.ts'
import type { Hook } from '../../onion/hook.ts'
import { nameOf } from '../../onion/misuse.ts'
import { Capabilities } from '../../seams/capability.ts'
import { isDirect, type Journal } from '../../seams/journal.ts'
import type { StoredRecord } from '../../seams/session-store.ts'
import type { ToolCallRecord } from '../../tool/call-record.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { ToolCall } from '../tool/tool-call.ts'
import { Answer } from './answer.ts'
import type { TurnAttempt } from './context.ts'
import type { Display } from './display.ts'
import { logCall, logRecord, logUsage } from './effect-log.ts'
import { Finalizers } from './finalizers.ts'
import type { InputStep } from './inputs.ts'
import { type InnerRun, Once } from './once.ts'
import { type Steer, Steering } from './steering.ts'
import { Steps } from './steps.ts'
import { TurnLifecycle } from './turn-lifecycle.ts'
import type { RunEvents, TurnOptions } from './turn-options.ts'
import { WorkingView } from './working-view.ts'

/** One input to one answer: what the turn's layers, calls and tools share. */
export class Turn implements Call {
  attempts = 1
  readonly hooks: readonly Hook[]
  readonly turnId: string
  readonly journal: Journal
  /** What of it a journal keeps, where there is one. */
  readonly steps: Steps | undefined
  readonly turnIndex: number
  readonly startedAt: number
  /** The first run of the turn, where it was resumed. */
  readonly rootId: string
  readonly usage: Usage = noUsage()
  readonly events: RunEvents
  /** What runs in it, and what ends it before its time. */
  readonly lifecycle: TurnLifecycle
  /** What its model calls start from. */
  readonly view: WorkingView
  readonly answer: Answer
  /** What layers do to messages that come in. */
  inputs: InputStep[] | undefined
  /** What the run's own reader gets, where a layer maps it. */
  display: Display | undefined
  /** Messages that came while it ran, once there are any. */
  steering: Steering | undefined
  readonly toolCalls: ToolCallRecord[] = []
  /** What layers and tools have recorded, to be stored with the run. */
  records: StoredRecord[] | undefined
  maxSteps: number
  stepIndex: number
  callIndex = 0
  stopReason: string | undefined
  /** Calls that wait for a human, of those that this run has made. */
  suspendedCalls: ToolCall[] | undefined
  /** The loop has ended because calls wait for a human. */
  isSuspended = false
  /** How the run ended has been told: nothing changes it. */
  hasEnded = false
  #finalizers: Finalizers | undefined
  #metadata: Record<string, unknown> | undefined
  #instructions: string | undefined
  #capabilities: Capabilities | undefined
  #once: Once | undefined

  constructor(
    readonly ring: Ring,
    readonly session: SessionScope,
    readonly options: TurnOptions,
  ) {
    this.hooks = options.onion.turn
    this.turnIndex = session.turnCount
    this.turnId = session.nextTurnId(options.turnId)
    this.startedAt = options.began?.at ?? session.agent.setup.clock.now()
    this.journal = options.journal
    if (!isDirect(options.journal)) this.steps = new Steps(this, options.began?.before)
    this.maxSteps = options.maxSteps
    this.events = options.events
    this.lifecycle = new TurnLifecycle(this)
    this.view = new WorkingView(session, options.input)
    this.answer = new Answer(this)
    const suspension = options.resume?.suspension
    this.rootId = suspension?.rootId ?? this.turnId
    this.stepIndex = suspension?.stepIndex ?? 0
    this.stopReason = suspension?.stopReason
  }

  /** The tool call that runs this turn as a sub-agent's. */
  get outer(): Attempt | undefined {
    return this.session.parent
  }
  get end(): TurnLifecycle['end'] {
    return this.lifecycle.end
  }
  /** The context of the loop, for instructions. */
  get context(): TurnAttempt {
    return this.lifecycle.core as TurnAttempt
  }
  /** The instructions as the first message of a call, if there are any. */
  get system(): Message | undefined {
    const { instructions } = this.session.agent.setup
    const content = typeof instructions === 'function' ? this.#instructions : instructions
    return content === undefined || content === '' ? undefined : { role: 'system', content }
  }
  get metadata(): Record<string, unknown> {
    this.#metadata ??= {}
    return this.#metadata
  }
  get capabilities(): Capabilities {
    this.#capabilities ??= new Capabilities(this.session.capabilities)
    return this.#capabilities
  }
  /** What is left to do when the run has ended, if anything. */
  get startedFinalizers(): Finalizers | undefined {
    return this.#finalizers
  }
  get finalizers(): Finalizers {
    this.#finalizers ??= new Finalizers(this)
    return this.#finalizers
  }

  /** Where in the run an event happened. */
  get location(): { sessionId: string; turnId: string; stepIndex: number } {
    return { sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex }
  }

  /** Asks a function for the instructions, once: a run that is replayed has those that it had. */
  instruct(): Promise<void> | undefined {
    const { instructions } = this.session.agent.setup
    if (typeof instructions !== 'function' || this.#instructions !== undefined) return undefined
    const given = this.onces.inAttempt('instructions', () => instructions(this.context))
    if (!(given instanceof Promise)) {
      this.#instructions = given
      return undefined
    }
    return given.then((text) => void (this.#instructions = text))
  }

  emitStep(type: 'step:start' | 'step:end'): void {
    this.send({ type, sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex })
  }

  /** Into the run's stream, and a copy to observers; nothing follows `turn:end`. */
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
    if (observers.has(event.type)) observers.emit(event.type, { ...event })
  }
  /** What a layer says; one that was left is heard by observers alone. */
  emit(event: CustomEvent, late: boolean): void {
    if (!late) this.send(event)
    else if (!this.hasEnded) this.observe(event)
  }

  /** Counts a physical call, here and in the turn of the agent above. */
  countCall(): void {
    const { parent } = this.session
    this.usage.calls++
    if (parent === undefined) return
    logCall(parent)
    parent.$turn.countCall()
  }
  /** Adds the tokens of a physical call; the call itself was counted when it began. */
  count(usage: Usage): void {
    const { parent } = this.session
    addUsage(this.usage, usage)
    this.usage.calls -= usage.calls
    if (parent === undefined) return
    logUsage(parent, usage)
    parent.$turn.count(usage)
  }
  /** Counts what calls used that are over. */
  countAll(usage: Usage): void {
    for (let i = 0; i < usage.calls; i++) this.countCall()
    this.count(usage)
  }

  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T> {
    return this.onces.run(key, fn)
  }
  get onces(): Once {
    this.#once ??= new Once(this)
    return this.#once
  }

  /** @throws AlliumError `state.invalid` where the data cannot be kept */
  record(topic: string, data: unknown): StoredRecord {
    const { ids, clock } = this.session.agent.setup
    const record = { id: ids(), topic, data: fromJson(toJson(data)), at: clock.now() }
    this.storeRecord(record)
    return record
  }
  storeRecord(record: StoredRecord): void {
    const { keepers, parent, agent } = this.session
    if (keepers === undefined && parent !== undefined) {
      logRecord(this.session, 1, record)
      return parent.$turn.storeRecord(record)
    }
    const { topic } = record
    if (keepers === undefined)
      agent.warnOnce(
        `record:${topic}`,
        `ctx.record("${topic}") is not stored, because no layer stores the session. Use memory.persist and give the session an id, or set memory.persist({ anonymous: true }).`,
      )
    this.records ??= []
    this.records.push(record)
  }

  /** What is heard before a step, where something may be: a run that is replayed hears again what it has heard. */
  get pendingSteering(): Steering | undefined {
    if (this.journal.known !== undefined) this.steering ??= new Steering(this)
    return this.steering
  }
  steer(steer: Steer): void {
    this.steering ??= new Steering(this)
    this.steering.add(steer)
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
    if (this.hasEnded || attempt.$reportedLate?.has(verb) === true) return
    attempt.$reportedLate ??= new Set()
    attempt.$reportedLate.add(verb)
    const { observers } = this.session.agent
    if (!observers.has('layer:late')) return
    const { $call, $hook } = attempt
    const layer = $hook === undefined ? (attempt as TurnAttempt).$name : nameOf(attempt)
    observers.emit('layer:late', {
      type: 'layer:late',
      ...this.location,
      layer,
      scope: $call.ring.scope as LayerLate['scope'],
      verb,
    })
  }
}
