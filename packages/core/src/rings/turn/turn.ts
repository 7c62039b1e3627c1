import { AbortError, toAbortError } from '../../errors/abort-error.ts'
import { BlockError, type BlockOptions } from '../../errors/block-error.ts'
import { messageOf } from '../../errors/describe.ts'
import type { CoreEvents, CustomEvent, LayerLate, StreamEvent } from '../../events/events.ts'
import { copyMessage } from '../../messages/copy-message.ts'
import { answerCalls } from '../../messages/history.ts'
import { cloneJson, freezeJson } from '../../messages/json.ts'
import type { Message, ToolResultPart } from '../../messages/message.ts'
import { addUsage, noUsage, type Usage } from '../../messages/usage.ts'
import { type Attempt, type Call, type Ending, isOpen, isOver, type Ring, State } from '../../onion/attempt.ts'
import { Cancel } from '../../onion/cancel.ts'
import type { Hook } from '../../onion/hook.ts'
import { leave, reject } from '../../onion/leave.ts'
import { nameOf } from '../../onion/misuse.ts'
import { enter, failInside, outcomeOf } from '../../onion/next.ts'
import { Capabilities } from '../../seams/capability.ts'
import { Deadlines } from '../../seams/deadlines.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { ToolCall } from '../tool/tool-call.ts'
import { Answer } from './answer.ts'
import type { TurnAttempt } from './context.ts'
import { Grace } from './grace.ts'
import type { InputStep } from './inputs.ts'
import { Once } from './once.ts'
import type { RunEnds } from './run-ends.ts'
import type { Screen } from './screen.ts'
import type { TurnCall } from './turn-call.ts'
import type { EndKind, RunEvents, ToolCallRecord, TurnOptions } from './turn-options.ts'

const noMessages: readonly Message[] = []

/** One input to one answer: what the turn's layers, calls and tools share. */
export class Turn implements Call {
  attempts = 1
  readonly hooks: readonly Hook[]
  /** Its outermost attempt, and the one that the loop runs in. */
  root: Attempt | undefined
  core: TurnAttempt | undefined
  /** The outermost attempts of the calls that run inside the loop. */
  live: Attempt[] = []
  readonly turnId: string
  readonly turnIndex: number
  readonly startedAt: number
  readonly usage: Usage = noUsage()
  readonly events: RunEvents
  readonly answer: Answer
  /** The first run of the turn, where it was resumed. */
  readonly rootId: string
  input: Message[]
  /** What layers do to messages that come in. */
  inputs: InputStep[] | undefined
  /** What the run's own reader gets, where a layer maps it. */
  screen: Screen | undefined
  maxSteps: number
  readonly toolCalls: ToolCallRecord[] = []
  stepIndex: number
  callIndex = 0
  stopReason: string | undefined
  /** Calls that wait for a human, of those that this run has made. */
  waiting: ToolCall[] | undefined
  /** The loop has ended because calls wait for a human. */
  waits = false
  deferred: Promise<unknown>[] | undefined
  /** What layers do once the run has ended. */
  ends: RunEnds | undefined
  /** The outermost layer has returned: how the run ends is decided. */
  decided = false
  /** How the run ended has been told: nothing changes it. */
  told = false
  /** Puts the results of the running tools into the history, while some run. */
  closeStep: (() => void) | undefined
  /** How the run ends before its time, if it does; the first abort or block stays. */
  end: (Ending & { kind: EndKind }) | undefined
  readonly #cancel = new Cancel()
  /** Waits of the loop itself. */
  #waits: Set<(reason: unknown) => void> | undefined
  readonly grace: Grace
  #sealed = false
  #messages: Message[] | undefined
  /** The input, as it stands among these before the core begins. */
  #shown: readonly Message[] = noMessages
  #deadlines: Deadlines | undefined
  #metadata: Record<string, unknown> | undefined
  #capabilities: Capabilities | undefined
  #once: Once | undefined

  constructor(
    readonly ring: Ring,
    readonly session: SessionScope,
    readonly options: TurnOptions,
  ) {
    this.hooks = options.onion.turn
    this.turnIndex = session.turnCount
    this.turnId = session.nextTurnId()
    this.startedAt = session.agent.setup.clock.now()
    this.input = options.input
    this.maxSteps = options.maxSteps
    this.events = options.events
    this.answer = new Answer(this)
    this.grace = new Grace(this)
    const suspension = options.resume?.suspension
    this.rootId = suspension?.rootId ?? this.turnId
    this.stepIndex = suspension?.stepIndex ?? 0
    this.stopReason = suspension?.stopReason
  }

  /** The tool call that runs this turn as a sub-agent's. */
  get outer(): Attempt | undefined {
    return this.session.parent
  }
  /** The timeouts of its tools, and how long it waits for layers that do not come back. */
  get deadlines(): Deadlines {
    this.#deadlines ??= new Deadlines(this.session.agent.setup.clock)
    return this.#deadlines
  }

  /** The context of the loop, for instructions. */
  context(): TurnAttempt {
    return this.core as TurnAttempt
  }
  /** No timer is left. */
  clearDeadlines(): void {
    this.#deadlines?.clear()
  }

  get metadata(): Record<string, unknown> {
    this.#metadata ??= {}
    return this.#metadata
  }
  get capabilities(): Capabilities {
    this.#capabilities ??= new Capabilities(this.session.capabilities)
    return this.#capabilities
  }

  /** Where in the run an event happened. */
  get place(): { sessionId: string; turnId: string; stepIndex: number } {
    return { sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex }
  }

  tellStep(type: 'step:start' | 'step:end'): void {
    this.send({ type, sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex })
  }

  /** Into the run's stream, and a copy to observers; nothing follows `turn:end`. */
  send(event: StreamEvent | CustomEvent): void {
    if (this.told) return
    if (this.screen !== undefined) {
      if (event.type === 'model:reset') this.screen.reset()
      else this.screen.flush()
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
    else if (!this.told) this.observe(event)
  }

  /** What each model call starts from. It is a list of its own once somebody looks at it; the messages are the history's, frozen. */
  get messages(): Message[] {
    if (this.#messages === undefined) {
      this.#shown = this.answer.begun ? [] : this.input.map(copyMessage)
      this.#messages = this.session.history.items.concat(this.#shown)
      for (const message of this.#messages) freezeJson(message)
    }
    return this.#messages
  }
  set messages(messages: Message[]) {
    this.#messages = messages
  }
  /** The same to read: the history itself where nobody has looked. */
  get working(): readonly Message[] {
    return this.#messages ?? this.session.history.items
  }
  setInput(input: Message[]): void {
    if (this.#messages !== undefined && !this.answer.begun) {
      const others = this.#messages.filter((message) => !this.#shown.includes(message))
      this.#shown = input.map((message) => freezeJson(copyMessage(message)))
      this.#messages = [...others, ...this.#shown]
    }
    this.input = input
  }

  /** Adds a message to the history and to what the next model call starts from. */
  commit(message: Message): void {
    if (this.#sealed) return
    const own = copyMessage(message)
    this.session.history.append(own)
    this.#messages?.push(freezeJson(own))
  }

  /** Adds results to the history and to what the next model call starts from. */
  commitResults(results: ToolResultPart[]): void {
    if (this.#sealed) return
    this.session.history.answer(results)
    if (this.#messages !== undefined) answerCalls(this.#messages, cloneJson(results))
  }

  /** Closes the loop's part of the history: calls without a result were cancelled, and what still runs adds nothing. */
  seal(): void {
    this.closeStep?.()
    this.#sealed = true
  }

  /** Counts a physical call, here and in the turn of the agent above. */
  countCall(): void {
    this.usage.calls++
    this.session.parent?.$turn.countCall()
  }
  /** Adds the tokens of a physical call; the call itself was counted when it began. */
  count(usage: Usage): void {
    addUsage(this.usage, usage)
    this.usage.calls -= usage.calls
    this.session.parent?.$turn.count(usage)
  }

  /** Work to await before the run settles; its rejection is told, not thrown. */
  defer(promise: PromiseLike<unknown>, layer: string): void {
    this.deferred ??= []
    this.deferred.push(
      Promise.resolve(promise).catch((error) => this.#report('defer', `Work deferred by the layer "${layer}"`, error)),
    )
  }

  /** Runs what layers do at the end; what fails is told, not thrown. */
  runEnds(end: CoreEvents['turn:end']): Promise<void> | undefined {
    return this.ends?.run(end, (layer, error) => this.#report('onEnd', `onEnd() of the layer "${layer}"`, error))
  }

  #report(event: string, what: string, error: unknown): void {
    const { observers, setup } = this.session.agent
    observers.emit('observer:error', { type: 'observer:error', event, error })
    setup.logger.error(`${what} failed: ${messageOf(error)}`, { error })
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    this.#once ??= new Once(this)
    return this.#once.run(key, fn)
  }

  abort(reason: unknown): never {
    const error = toAbortError(reason)
    this.cut('aborted', error)
    throw this.end?.error ?? error
  }
  block(reason: string, details: BlockOptions): never {
    const error = new BlockError(reason, details)
    this.cut('blocked', error)
    throw this.end?.error ?? error
  }
  stop(reason: string): void {
    if (!this.decided) this.stopReason ??= reason
  }
  fail(error: unknown): void {
    this.cut('failed', error)
  }
  /** Ends the run before its time: everything inside is cancelled, every layer unwinds. */
  cut(kind: EndKind, error: unknown): void {
    if (this.decided || (this.end !== undefined && (this.end.kind !== 'failed' || kind === 'failed'))) return
    this.close(kind, error)
    this.grace.begin()
    // Who decides may still be on the stack.
    queueMicrotask(() => this.#failInside())
  }
  /** The same where no layer is left inside. */
  close(kind: EndKind, error: unknown): void {
    this.end = { kind, error }
    this.events.flow?.()
    const reason =
      kind === 'aborted' ? error : new AbortError(kind === 'blocked' ? (error as BlockError).message : 'the run failed')
    this.#cancel.abort(reason)
  }

  /** Runs the turn's onion. Over when its outermost layer has come back, or is given up. */
  pass(): unknown {
    const root = this.ring.open(this, undefined, 1, this.#cancel)
    this.root = root
    enter(root)
    return outcomeOf(root)
  }
  /** The turn waits for its layers no longer. */
  giveUp(): void {
    if (this.root !== undefined) reject(this.root, this.end?.error)
  }
  settled(): void {
    this.decided = true
  }

  /** Runs a call inside the loop: what it comes to, at once or as a promise. */
  run(call: TurnCall): unknown {
    const core = this.core as TurnAttempt
    const root = call.ring.open(call, undefined, 1, core.$cancel)
    this.live.push(root)
    enter(root)
    return outcomeOf(root)
  }
  /** A call inside the loop has come to its end. */
  ended(root: Attempt): void {
    const at = this.live.lastIndexOf(root)
    if (at >= 0) this.live.splice(at, 1)
  }

  /** Whether the loop goes on no more: the run has ended, or its layers have left it. */
  get isOver(): boolean {
    return this.end !== undefined || (this.core !== undefined && isOver(this.core))
  }
  /** Why it does not. */
  get reason(): unknown {
    return this.end === undefined ? this.core?.$outcome : this.end.error
  }

  /** A wait of the loop itself, which does not outlast it. */
  until<T>(wait: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        this.#waits?.delete(leave)
        reject(reason)
      }
      if (this.isOver) return reject(this.reason)
      this.#waits ??= new Set()
      this.#waits.add(leave)
      wait.then(
        (value) => {
          this.#waits?.delete(leave)
          resolve(value)
        },
        (error) => leave(error),
      )
    })
  }

  /** The loop was left: what runs in it is, too; calls that have no result yet are cancelled. */
  leaveLoop(reason: unknown): void {
    for (const root of [...this.live]) if (isOpen(root)) leave(root, reason)
    for (const leave of this.#waits ?? []) leave(reason)
    this.seal()
  }

  /** Work after the end of a run that was cut short: it holds the run up as long as a layer may, and no longer. */
  async bounded(work: Promise<unknown> | undefined): Promise<void> {
    if (this.end === undefined) return void (await work)
    const over = new Promise<void>((resolve) => this.deadlines.add(this.session.agent.setup.abortGrace, resolve))
    await Promise.race([work, over])
    this.clearDeadlines()
  }

  left(layers: readonly Attempt[]): void {
    this.grace.left(layers)
  }
  returned(layer: Attempt): void {
    this.grace.returned(layer)
  }
  late(attempt: Attempt, verb: string): void {
    if (this.told || attempt.$told?.has(verb) === true) return
    attempt.$told ??= new Set()
    attempt.$told.add(verb)
    const { observers } = this.session.agent
    if (!observers.has('layer:late')) return
    const { $call, $hook } = attempt
    const layer = $hook === undefined ? (attempt as TurnAttempt).$name : nameOf(attempt)
    observers.emit('layer:late', {
      type: 'layer:late',
      ...this.place,
      layer,
      scope: $call.ring.scope as LayerLate['scope'],
      verb,
    })
  }

  #failInside(): void {
    if (this.decided) return
    const error = this.end?.error
    for (const root of [...this.live]) failInside(root, error)
    for (const leave of this.#waits ?? []) leave(error)
    if (this.root !== undefined && this.core?.$state !== State.running) failInside(this.root, error)
  }
}
