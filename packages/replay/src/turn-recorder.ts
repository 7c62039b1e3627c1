import {
  type Clock,
  type HookInfo,
  type Message,
  type ModelContext,
  messageOf,
  type SessionContext,
  type StoredTurn,
  type TurnView,
  type WrappedRun,
} from '@allium/core'
import { heldLease, isRecord } from '@allium/core/internal'
import { type Decision, DecisionList } from './decisions/decision-list.ts'
import type { DecisionSink, OpenHook } from './decisions/decision-watcher.ts'
import { EnteredLayers } from './entered-layers.ts'
import { Moments } from './moments.ts'
import { Postings } from './postings.ts'
import { recordedDecision, unseenDecisions } from './recorded-decision.ts'
import { taskOf } from './recorded-task.ts'
import type { RecordedDecision, RecordedStep, RecordedTurn } from './recorded-turn.ts'
import { RequestRecorder } from './request-recorder.ts'
import type { StepWatcher, WatchedStep } from './watch-journal.ts'

/** Collects what one turn does, as references. It becomes JSON once, when the turn has ended. */
export class TurnRecorder implements StepWatcher, DecisionSink {
  readonly moments: Moments
  readonly postings: Postings
  readonly #run: WrappedRun
  readonly #ctx: SessionContext
  readonly #maxBytes: number
  readonly #requests: RequestRecorder
  readonly #steps: RecordedStep[] = []
  readonly #decisions = new DecisionList<RecordedDecision>()
  readonly #layers = new EnteredLayers()
  readonly #reasons = new Set<string>()
  readonly #before: RecordedTurn['before']
  /** The characters of the chunks so far, at least. */
  #size = 0

  /** @param clock that of the run */
  constructor(run: WrappedRun, ctx: SessionContext, { maxBytes, clock }: { maxBytes: number; clock: Clock }) {
    this.#run = run
    this.#ctx = ctx
    this.#maxBytes = maxBytes
    this.moments = new Moments(clock)
    this.postings = new Postings(this.moments)
    const { history } = ctx
    const version = ctx.find(heldLease)?.lease?.version
    this.#before = { messages: history.length, ...(version === undefined ? unstored(run) : { version }) }
    this.#requests = new RequestRecorder([...history])
  }

  get startedAt(): number {
    return this.moments.startedAt
  }

  /** Whether it has entered a layer. */
  get hasEntered(): boolean {
    return !this.#layers.isEmpty
  }

  /** Whether the recording has become larger than its limit, so that nothing more is kept. */
  get isTooLarge(): boolean {
    return this.#size > this.#maxBytes
  }

  item(item: unknown): boolean {
    const { type, delta } = (isRecord(item) ? item : {}) as { type?: unknown; delta?: unknown }
    if (type === 'step:input') return false
    this.#size += typeof delta === 'string' ? delta.length : 0
    return !this.isTooLarge
  }

  began(id: string): void {
    this.moments.began(id)
  }

  ended({ id, layer, items, outcome }: WatchedStep): void {
    const { at } = this.moments.now()
    this.moments.ended(id)
    this.#steps.push({
      ...{ id, at },
      ...(layer !== undefined && { layer }),
      ...(items.length > 0 && { items }),
      ...('error' in outcome ? { error: errorOf(outcome.error) } : { result: plainResult(outcome.result) }),
    })
  }

  replayed(): void {
    this.#reasons.add('steps ran in another process')
  }

  entered(hook: HookInfo, ctx: TurnView): void {
    this.#layers.add(hook, ctx)
  }

  requested(ctx: ModelContext): void {
    if (!this.isTooLarge) this.#requests.add(ctx)
  }

  decided(open: OpenHook, decision: Decision): void {
    this.#decisions.add(recordedDecision(open, decision))
  }

  returned(open: OpenHook): void {
    this.#decisions.returned(recordedDecision(open, { decision: 'skipped' }))
  }

  /** @param isRaw whether no layer may have changed it */
  steered(message: Message, isRaw: boolean): void {
    this.moments.steered(message)
    if (!isRaw)
      this.#reasons.add('a layer outside the recorder may have changed a message that was sent to the running turn')
  }

  /** Returns the recording of the turn. */
  async recording(turn: StoredTurn): Promise<RecordedTurn> {
    const balances = await this.postings.balances()
    const { principal, context } = this.#ctx
    const { agent, version, status, reason, code, answer, finishReason, usage, calls } = turn
    const { task, reasons } = taskOf(this.#run.task)
    for (const why of reasons) this.#reasons.add(why)
    if (this.moments.hasLost) this.#reasons.add('more readings of the clock, messages or postings than are kept')
    for (const unseen of unseenDecisions(turn, this.#decisions)) this.#decisions.add(unseen)
    const { abort, ...moments } = this.moments.fields(balances)
    return {
      format: 1,
      agent,
      version,
      startedAt: this.startedAt,
      endedAt: this.startedAt + this.moments.now().at,
      task,
      principal,
      context: (this.#run.task?.options as { context?: unknown } | undefined)?.context ?? context,
      before: this.#before,
      layers: this.#layers.items(),
      requests: this.#requests.requests,
      steps: this.#steps,
      ...moments,
      ...(status === 'aborted' && abort !== undefined && { abort }),
      decisions: this.#decisions.items,
      result: { status, answer, usage, reason, code, finishReason, calls },
      ...(this.#reasons.size > 0 && { notReplayable: [...this.#reasons] }),
    }
  }
}

/** The session itself, if no store has it. A new one needs no snapshot. */
function unstored(run: WrappedRun): Pick<RecordedTurn['before'], 'snapshot'> {
  const snapshot = run.before()
  const isNew = snapshot.history.length === 0 && !snapshot.turnCount && Object.keys(snapshot.state).length === 0
  return isNew ? {} : { snapshot }
}

/** The error of a tool is data, too. */
function plainResult(result: unknown): unknown {
  const { error } = (result ?? {}) as { error?: unknown }
  return error instanceof Error ? { ...(result as object), error: errorOf(error) } : result
}

function errorOf(error: unknown): NonNullable<RecordedStep['error']> {
  const { name, code, status } = (error ?? {}) as { name?: unknown; code?: unknown; status?: unknown }
  return {
    name: String(name ?? 'Error'),
    message: messageOf(error),
    ...(typeof code === 'string' && { code }),
    ...(typeof status === 'number' && { status }),
  }
}
