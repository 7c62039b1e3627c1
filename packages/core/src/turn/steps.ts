import { AbandonedError, AbortError } from '../errors/abort-error.ts'
import { abandon } from '../onion/abandon.ts'
import { type Attempt, type Call, isOpen, State } from '../onion/attempt.ts'
import { type Emit, type Journal, noItems } from '../ports/journal.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import {
  differences,
  diverged,
  type Fingerprint,
  fingerprintOf,
  isFingerprint,
  type StepRequest,
} from './step-request.ts'
import type { TurnLifecycle } from './turn-lifecycle.ts'

/** One journaled step: its work, the receiver of its chunks, and its request. */
interface Step<T, C> {
  work(emit: Emit<C>): T | PromiseLike<T>
  emit: Emit<C>
  request(): StepRequest
}

/** The turn whose steps are recorded. */
interface StepsHost {
  readonly turnId: string
  readonly stepIndex: number
  readonly session: { readonly id: string }
  readonly journal: Journal
  readonly events: RunEvents
  readonly lifecycle: Pick<TurnLifecycle, 'end' | 'fail'>
}

/** The steps of a turn with a journal. Tracks which of them run in this process and which are replayed. */
export class Steps {
  /** Whether all steps so far were replayed. Undefined before the first step. */
  #replaying: boolean | undefined
  readonly #turn: StepsHost
  /** By call that has reached its step: whether the step ran in this process. */
  readonly #ran = new Map<Call, boolean>()
  readonly #open = new Map<Attempt, Promise<unknown>>()
  /**
   * Abandoned steps. The next step starts only after these are recorded. Otherwise a replay could not know why the next
   * one started.
   */
  readonly #abandoned = new Set<Promise<unknown>>()

  /** @param begun whether the run had started before */
  constructor(turn: StepsHost, begun: boolean | undefined) {
    this.#turn = turn
    this.#replaying = begun
  }

  /** Runs the step of an attempt's core. @param name unique in the turn, and the same on replay */
  run<T, C>(core: Attempt, name: string, step: Step<T, C>): Promise<T> {
    const result = this.#run(core, name, step)
    this.#open.set(core, result)
    const over = () => {
      this.#open.delete(core)
      this.#abandoned.delete(result)
    }
    result.then(over, over)
    return result
  }

  /** Records that the work of a step starts. Returns whether this is its first start. */
  async begin(name: string): Promise<boolean> {
    const { journal, turnId } = this.#turn
    let isFirst = false
    const begins = () => {
      isFirst = true
      return null
    }
    await journal.step(`${turnId}:${name}:begin`, begins, noItems)
    return isFirst
  }

  /** Whether the result of a call is replayed. Before its step: whether everything was replayed so far. */
  isReplaying(call: Call): boolean {
    const ran = this.#ran.get(call)
    return ran === undefined ? this.#replaying === true : !ran
  }

  /** @param name unique in the turn */
  isRecorded(name: string): boolean | PromiseLike<boolean> {
    const { journal, turnId } = this.#turn
    return journal.known?.(`${turnId}:${name}`) ?? false
  }

  /** Returns the error that the journal records for a step whose attempt was abandoned. */
  abandonedReason(core: Attempt, reason: unknown): Error {
    if (this.#turn.lifecycle.end !== undefined) return new AbortError(reason)
    const step = this.#open.get(core)
    if (step !== undefined) this.#abandoned.add(step)
    return new AbandonedError(abandonedAround(core), reason)
  }
  /**
   * Abandons the attempts that were abandoned when the step was recorded. Waits first for the other steps that are
   * being replayed.
   */
  async abandonAgain(core: Attempt, { by, cause }: AbandonedError): Promise<void> {
    if (by === undefined) return
    const others = [...this.#open].filter(([{ $call }]) => $call !== core.$call && this.#ran.get($call) !== true)
    await Promise.allSettled(others.map(([, step]) => step))
    let at: Attempt | undefined = isOpen(core) ? core : undefined
    for (let n = 0; n < by && at !== undefined; n++) at = around(at)
    if (at !== undefined && isOpen(at)) abandon(at, cause)
  }

  async #run<T, C>({ $call: call }: Attempt, name: string, { work, emit, request }: Step<T, C>): Promise<T> {
    while (this.#abandoned.size > 0) await Promise.allSettled(this.#abandoned)
    const { journal, turnId } = this.#turn
    const here = (record: Emit<C | Fingerprint>) => {
      this.#ran.set(call, true)
      this.#replaying = false
      if (journal.compares === false) return work(record)
      return fingerprintFirst(fingerprintOf(request()), { work, emit: record })
    }
    const taken = (item: C | Fingerprint) => {
      if (!isFingerprint(item)) return emit(item)
      if (this.#ran.get(call) !== true)
        return fingerprintOf(request()).then((now) => this.#compare(name, { recorded: item, now }))
    }
    try {
      return await journal.step<T, C | Fingerprint>(`${turnId}:${name}`, here, taken)
    } finally {
      this.#replaying ??= true
      if (!this.#ran.has(call)) this.#ran.set(call, false)
    }
  }

  /** Fails the run if its request differs from the recorded step. No layer may retry it. */
  #compare(name: string, { recorded, now }: { recorded: Fingerprint; now: Fingerprint }): void {
    const { must, may } = differences(recorded, now)
    const { turnId, lifecycle, stepIndex, session } = this.#turn
    const step = `${turnId}:${name}`
    if (may.length > 0)
      this.#turn.events.push({ type: 'journal:drift', sessionId: session.id, turnId, stepIndex, step, differs: may })
    if (must.length === 0) return
    const error = diverged(step, must)
    lifecycle.fail(error)
    throw error
  }
}

/** Starts the work at once. Its chunks are emitted after the fingerprint. */
async function fingerprintFirst<T, C>(
  fingerprint: Promise<Fingerprint>,
  { work, emit }: { work: Step<T, C>['work']; emit: Emit<C | Fingerprint> },
): Promise<T> {
  let isEmitted = false
  const emitted = fingerprint.then(async (value) => {
    await emit(value)
    isEmitted = true
  })
  const result = work((item) => (isEmitted ? emit(item) : emitted.then(() => emit(item))))
  await Promise.all([emitted, result])
  return result
}

/**
 * Returns how many enclosing attempts were abandoned too. Undefined if the layer around them had returned or thrown,
 * because on replay it will do so again.
 */
function abandonedAround(core: Attempt): number | undefined {
  let count = 0
  let outermost = core
  for (let at = around(core); at?.$state === State.abandoned; at = around(at)) {
    outermost = at
    count++
  }
  return outermost.$caller?.$exited === true ? undefined : count
}

/** Returns the enclosing attempt in the same turn. */
function around({ $caller, $call }: Attempt): Attempt | undefined {
  return $caller ?? ($call.ring.scope === 'turn' ? undefined : $call.outer)
}
