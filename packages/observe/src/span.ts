import type { RunStatus } from '@allium/core'
import { decisionOfError, errorDetail } from './failure.ts'
import type { Decision, OnionChange, OnionSpan, TracedScope } from './onion-turn.ts'
import { differingParts, type Outcome } from './outcome.ts'
import { withoutSecrets } from './secrets.ts'

/** A span that is being recorded. */
export class Span {
  readonly children: Span[] = []
  entered = 0
  /** Time spent inside next(). */
  nextDuration = 0
  end: number | undefined
  decision: Decision = 'running'
  detail: string | undefined
  /** Its result; kept until the outer layer has compared it. */
  outcome: Outcome | undefined
  #from = 0
  /** Its changes, by field. */
  readonly #changes = new Map<OnionChange['field'], OnionChange>()
  #isSettled = false
  #nextOutcome: Outcome | undefined
  /** The last rejection of next(). */
  #thrown: { error: unknown } | undefined
  /** The error that it threw. */
  #failure: { error: unknown } | undefined
  #ended: { status: RunStatus; reason: string } | undefined

  constructor(
    readonly layer: string,
    readonly scope: TracedScope,
    readonly core: boolean,
    readonly start: number,
    readonly subject: string | undefined,
    readonly id: number,
  ) {}

  /** Returns the status of the turn, if this is its outermost span. */
  get status(): { status: RunStatus | 'running'; reason?: string } {
    if (this.end === undefined) return { status: 'running' }
    return this.#ended ?? { status: 'completed' }
  }

  /** Records a call of next(). Returns the function that stops its timer. */
  enterNext(now: () => number): () => void {
    this.entered++
    this.#from = this.children.length
    const startedAt = now()
    return () => {
      this.nextDuration += now() - startedAt
    }
  }

  /** Records changes to the call's input. */
  addChanges(changes: readonly OnionChange[]): void {
    for (const change of changes) this.#changes.set(change.field, change)
  }

  /** Records that next() returned. @param hidesInner whether layers inside may have run that are not recorded */
  nextReturned(outcome: Outcome, hidesInner: boolean, stop?: () => void): void {
    stop?.()
    const child = this.inner()
    if (child === undefined) {
      if (hidesInner) this.#nextOutcome = outcome
      else this.#isSettled = !this.core // its own skipCall or deny: nothing inside ran
      return
    }
    if (outcome.ended !== undefined && child.outcome?.ended === undefined) child.#endedBy(outcome.ended)
    else if (child.outcome !== undefined) this.#changedParts(child.outcome, outcome)
    child.outcome = undefined
    this.#nextOutcome = outcome
  }

  /** Records that next() rejected. */
  nextFailed(error: unknown, stop?: () => void): void {
    stop?.()
    this.#thrown = { error }
    this.#nextOutcome = undefined
    const child = this.inner()
    if (child?.decision === 'running') child.#decide('left')
  }

  returned(outcome: Outcome, now: number): void {
    if (!this.#finish(now)) return
    this.outcome = outcome
    const nextOutcome = this.#nextOutcome
    if (outcome.ended !== undefined && nextOutcome?.ended === undefined) this.#endedBy(outcome.ended)
    else if (this.core) this.#decide('passed')
    else if (this.entered === 0 || this.#isSettled) this.#decide('skipped')
    else if (nextOutcome === undefined) this.#decide('recovered', this.#thrown && errorDetail(this.#thrown.error))
    else if (this.entered > 1) this.#decide('retried', this.#thrown && errorDetail(this.#thrown.error))
    else {
      this.#changedParts(nextOutcome, outcome)
      this.#decide(this.#changes.size > 0 ? 'changed' : 'passed')
    }
  }

  failed(error: unknown, now: number): void {
    if (!this.#finish(now)) return
    this.#failure = { error }
    this.#ended = { status: decisionOfError(error), reason: errorDetail(error) }
    if (!this.#isPassedThrough(error)) this.#decide(decisionOfError(error), errorDetail(error))
    else if (this.entered > 1) this.#decide('retried', errorDetail(error))
    else this.#decide(this.#changes.size > 0 ? 'changed' : 'passed')
  }

  /** Releases results and errors once they need not be compared any more. */
  release(): void {
    this.#failure = this.#thrown = this.#nextOutcome = this.outcome = undefined
    for (const child of this.children) child.release()
  }

  toData(origin: number, now: number): OnionSpan {
    return { ...this.fields(origin, now), children: this.children.map((child) => child.toData(origin, now)) }
  }

  fields(origin: number, now: number): Omit<OnionSpan, 'children'> {
    const duration = (this.end ?? now) - this.start
    return {
      layer: this.layer,
      scope: this.scope,
      ...(this.subject !== undefined && { subject: this.subject }),
      core: this.core,
      start: this.start - origin,
      duration,
      self: Math.max(0, duration - (this.core ? coveredTime(this.children, now) : this.nextDuration)),
      decision: this.decision,
      entered: this.entered,
      ...(this.detail !== undefined && { detail: this.detail }),
      ...(this.#changes.size > 0 && { changed: [...this.#changes.values()] }),
    }
  }

  /** Whether the error came from inside. */
  #isPassedThrough(error: unknown): boolean {
    if (this.core) return this.children.some((child) => child.#failure?.error === error)
    return this.#thrown !== undefined && this.#thrown.error === error
  }

  /** Returns false if it was already abandoned. */
  #finish(now: number): boolean {
    this.end ??= now
    return this.decision === 'running'
  }

  #changedParts(inside: Outcome, outside: Outcome): void {
    this.addChanges(differingParts(inside, outside).map((field) => ({ field })))
  }

  #endedBy({ decision, why }: NonNullable<Outcome['ended']>): void {
    this.#decide(decision, why)
  }

  #decide(decision: Decision, detail?: string): void {
    this.decision = decision
    this.detail = detail === undefined || detail === '' ? undefined : withoutSecrets(detail).slice(0, maxDetail)
  }

  /** The span that was entered during its last next(). */
  inner(): Span | undefined {
    return this.core || this.children.length === this.#from ? undefined : this.children.at(-1)
  }
}

const maxDetail = 300

/** Returns the time during which at least one of the spans was running; tools run in parallel. */
function coveredTime(spans: readonly Span[], now: number): number {
  let total = 0
  let coveredUntil = Number.NEGATIVE_INFINITY
  for (const { start, end = now } of spans) {
    total += Math.max(0, end - Math.max(start, coveredUntil))
    coveredUntil = Math.max(coveredUntil, end)
  }
  return total
}
