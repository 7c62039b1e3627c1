import { AbandonedError } from '../../errors/abandoned-error.ts'
import { AbortError } from '../../errors/abort-error.ts'
import { abandon } from '../../onion/abandon.ts'
import { type Attempt, type Call, isOpen, State } from '../../onion/attempt.ts'
import type { Emit } from '../../seams/journal.ts'
import { differences, diverged, type Fingerprint, isFingerprint } from './fingerprint.ts'
import type { Turn } from './turn.ts'

/** A physical step: what it does, who takes what it emits, and what it is asked. */
interface Step<T, C> {
  work(emit: Emit<C>): T | PromiseLike<T>
  emit: Emit<C>
  fingerprint(): Promise<Fingerprint>
}

/** The steps of a turn that has a journal: which of them run here, and which are replayed. */
export class Steps {
  /** Nothing has run here yet: all so far was replayed. Undefined before the first step. */
  #replaying: boolean | undefined
  readonly #turn: Turn
  /** Whether a call has run here, of those that have come to a step. */
  readonly #ran = new Map<Call, boolean>()
  readonly #open = new Map<Attempt, Promise<unknown>>()
  /** Steps that were left: the next one begins once they are recorded, or a replay would not know why it was begun. */
  readonly #abandoned = new Set<Promise<unknown>>()

  /** @param begun whether the run had begun before */
  constructor(turn: Turn, begun: boolean | undefined) {
    this.#turn = turn
    this.#replaying = begun
  }

  /** The step of an attempt's core. @param name unique in the turn, and equal on replay */
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

  /** Records that the work of a step begins. Whether it has not begun before. */
  async begin(name: string): Promise<boolean> {
    const { journal, turnId } = this.#turn
    let isFirst = false
    const begins = () => {
      isFirst = true
      return null
    }
    await journal.step(`${turnId}:${name}:begin`, begins, () => {})
    return isFirst
  }

  /** Whether what a call came to is replayed; before its step, whether everything was so far. */
  isReplaying(call: Call): boolean {
    const ran = this.#ran.get(call)
    return ran === undefined ? this.#replaying === true : !ran
  }

  /** @param name unique in the turn */
  isRecorded(name: string): boolean | PromiseLike<boolean> {
    const { journal, turnId } = this.#turn
    return journal.known?.(`${turnId}:${name}`) ?? false
  }

  /** What the journal is told of a step that its attempt does not wait for any more. */
  abandonedReason(core: Attempt, reason: unknown): Error {
    if (this.#turn.end !== undefined) return new AbortError(reason)
    const step = this.#open.get(core)
    if (step !== undefined) this.#abandoned.add(step)
    return new AbandonedError(abandonedAround(core), reason)
  }
  /** Leaves again what was left when the step was recorded, once what is replayed beside it has ended. */
  async abandonAgain(core: Attempt, { by, cause }: AbandonedError): Promise<void> {
    if (by === undefined) return
    const others = [...this.#open].filter(([{ $call }]) => $call !== core.$call && this.#ran.get($call) !== true)
    await Promise.allSettled(others.map(([, step]) => step))
    let at: Attempt | undefined = isOpen(core) ? core : undefined
    for (let n = 0; n < by && at !== undefined; n++) at = around(at)
    if (at !== undefined && isOpen(at)) abandon(at, cause)
  }

  async #run<T, C>({ $call: call }: Attempt, name: string, { work, emit, fingerprint }: Step<T, C>): Promise<T> {
    while (this.#abandoned.size > 0) await Promise.allSettled(this.#abandoned)
    const { journal, turnId } = this.#turn
    const here = async (emit: Emit<C | Fingerprint>) => {
      this.#ran.set(call, true)
      this.#replaying = false
      return fingerprintFirst(fingerprint(), { work, emit })
    }
    const taken = (item: C | Fingerprint) => {
      if (!isFingerprint(item)) return emit(item)
      if (this.#ran.get(call) !== true) return fingerprint().then((now) => this.#compare(name, { recorded: item, now }))
    }
    try {
      return await journal.step<T, C | Fingerprint>(`${turnId}:${name}`, here, taken)
    } finally {
      this.#replaying ??= true
      if (!this.#ran.has(call)) this.#ran.set(call, false)
    }
  }

  /** Nothing of a run goes on that asks a recorded step otherwise: no layer may try it again. */
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

/** The work begins at once; what it emits comes behind what it was asked. */
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

/** How many attempts around one were left with it; undefined where the layer around them had returned or thrown: it will again. */
function abandonedAround(core: Attempt): number | undefined {
  let count = 0
  let outermost = core
  for (let at = around(core); at?.$state === State.abandoned; at = around(at)) {
    outermost = at
    count++
  }
  return outermost.$caller?.$exited === true ? undefined : count
}

/** The attempt around one, in the same turn. */
function around({ $caller, $call }: Attempt): Attempt | undefined {
  return $caller ?? ($call.ring.scope === 'turn' ? undefined : $call.outer)
}
