import { type ModelContext, messageOf, type SessionContext, type StoredTurn, type WrappedRun } from '@allium/core'
import { heldLease, isRecord } from '@allium/core/internal'
import { taskOf } from './recorded-task.ts'
import type { RecordedDecision, RecordedStep, RecordedTurn } from './recorded-turn.ts'
import { RequestRecorder } from './request-recorder.ts'
import type { StepWatcher, WatchedStep } from './watch-journal.ts'

/** Collects what one turn does, as references. It becomes JSON once, when the turn has ended. */
export class TurnRecorder implements StepWatcher {
  readonly startedAt: number
  readonly #run: WrappedRun
  readonly #ctx: SessionContext
  readonly #maxBytes: number
  readonly #requests: RequestRecorder
  readonly #steps: RecordedStep[] = []
  readonly #decisions: RecordedDecision[] = []
  readonly #reasons = new Set<string>()
  readonly #before: RecordedTurn['before']
  /** The characters of the chunks so far, at least. */
  #size = 0

  constructor(run: WrappedRun, ctx: SessionContext, maxBytes: number) {
    this.#run = run
    this.#ctx = ctx
    this.#maxBytes = maxBytes
    this.startedAt = ctx.clock.now()
    const { history } = ctx
    const version = ctx.find(heldLease)?.lease?.version
    this.#before = { messages: history.length, ...(version !== undefined && { version }) }
    if (version === undefined && history.length > 0) this.#reasons.add('the history before the turn is not stored')
    this.#requests = new RequestRecorder([...history])
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

  ended({ id, items, outcome }: WatchedStep): void {
    const at = this.#ctx.clock.now() - this.startedAt
    const kept = items.length === 0 ? {} : { items }
    this.#steps.push({ id, at, ...kept, ...('error' in outcome ? { error: errorOf(outcome.error) } : outcome) })
  }

  replayed(): void {
    this.#reasons.add('steps ran in another process')
  }

  requested(ctx: ModelContext): void {
    if (!this.isTooLarge) this.#requests.add(ctx)
  }

  decided(decision: RecordedDecision): void {
    this.#decisions.push(decision)
  }

  /** Returns the recording of the turn. */
  recording(turn: StoredTurn): RecordedTurn {
    const { principal, context } = this.#ctx
    const { agent, version, status, reason, code, answer, finishReason, usage, calls } = turn
    const { task, reasons } = taskOf(this.#run.task)
    for (const why of reasons) this.#reasons.add(why)
    return {
      format: 1,
      agent,
      version,
      startedAt: this.startedAt,
      endedAt: this.#ctx.clock.now(),
      task,
      principal,
      context: (this.#run.task?.options as { context?: unknown } | undefined)?.context ?? context,
      before: this.#before,
      layers: [],
      requests: this.#requests.requests,
      steps: this.#steps,
      clock: { reads: [] },
      decisions: this.#decisions,
      result: {
        ...{ status, answer, usage },
        ...(reason !== undefined && { reason }),
        ...(code !== undefined && { code }),
        ...(finishReason !== undefined && { finishReason }),
        ...(calls !== undefined && { calls }),
      },
      ...(this.#reasons.size > 0 && { notReplayable: [...this.#reasons] }),
    }
  }
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
