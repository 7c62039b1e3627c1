import { AlliumError, systemClock } from '@allium/core'

/** Steps whose loss would hide or repeat something: model calls, tool calls and `ctx.once()`. */
const counted = /:(?:model|tool|once):/
/** What a takeover records about the former process, answers of `patched()`, and instructions: code may skip or add them. */
const free = /:(?:takeover\/|durable:patched:|once:instructions:)/
const isChecked = (id: string) => counted.test(id) && !free.test(id)
const toolStep = /^(.*)(?<!:once):tool:(.+):\d+$/s
const callStep = /(?<!:once):(?:model:(\d+)|tool:.+):\d+$/s
/** A record of a turn, or a step in one. Those of a tool call or a model call have its id in theirs. */
const turnRecord = /^(?:(?!:model:|:tool:|:once:).)*:once:(?!tool:|model:)/s
const agentStart = /^(.*\/.+):\d+:start$/s

/** Runs `expired` unless it is cancelled before. */
export type Patience = (expired: () => void) => () => void

/** Whether a step is recorded by each process that takes a run over. It is no progress of the run. */
export function isTakeoverStep(id: string): boolean {
  return id.includes(':takeover/')
}

/**
 * Detects a replay that skips a recorded step, because its code has changed: an effect would be lost, or repeated. A new step waits for the
 * recorded ones that were requested before it. For implementations of `Journal`.
 */
export class ReplayCheck {
  /** By recorded step that was not requested yet: the steps that ran when it was. */
  readonly #unused = new Map<string, readonly string[]>()
  /** The replayed steps, and the sub-agents that ran in them. The replay requests no step inside of these. */
  readonly #replayed = new Set<string>()
  /** The prefixes of the ids of the sub-agents that have recorded steps. */
  readonly #agents = new Set<string>()
  readonly #running = new Set<string>()
  /** Running steps whose agents have recorded steps, which the replay requests. */
  readonly #replaying = new Set<string>()
  readonly #refused = new Set<string>()
  readonly #waiting = new Set<() => void>()
  readonly #patience: Patience
  #divergence: AlliumError | undefined

  /** @param patience limits how long a new step waits for recorded ones that the code may still request @default 10 seconds */
  constructor(patience: Patience = (expired) => systemClock.after(10_000, expired, { idle: true })) {
    this.#patience = patience
  }

  /** Adds a step that was recorded by an earlier attempt. @param during what `begin()` returned for it */
  add(id: string, during: readonly string[]): void {
    const [, agent] = agentStart.exec(id) ?? []
    if (agent !== undefined) this.#agents.add(agent)
    if (isChecked(id)) this.#unused.set(id, during)
  }

  /** The replay requests a step. @throws AlliumError the divergence, if there was one */
  use(id: string): void {
    this.throwIfDiverged()
    if (!this.#unused.delete(id)) return
    // A call that is recorded as begun, and not as ended, does not run again: the history names it as interrupted.
    this.#replayed.add(id).add(agentIn(id.replace(/:begin$/, '')))
    for (const wake of this.#waiting) wake()
  }

  /**
   * Waits before a step that is not recorded, until the recorded steps that precede it were requested. Undefined if they were.
   *
   * @param isStopping the step will not run. The layers may still request records of their end
   * @throws AlliumError `journal.diverged`
   */
  wait(id: string, isStopping = false): Promise<void> | undefined {
    if (!isChecked(id)) return undefined
    const callsOnly = isStopping && (callStep.test(id) || this.#refused.size > 0)
    const step = this.#missing(id, { callsOnly })
    if (step === undefined) return undefined
    if (isCertain(id, step)) throw this.#diverged(skipped(step))
    return this.#requested(id, step).then(() => this.wait(id, isStopping))
  }

  /** The step begins. Returns the other steps that are running, to be recorded with it. */
  begin(id: string): readonly string[] {
    const during = [...this.#running].filter((running) => !isInside(id, running))
    this.#running.add(id)
    if (this.hasInner(id)) this.#replaying.add(id)
    return during
  }

  /** The step has ended. */
  end(id: string): void {
    this.#running.delete(id)
  }

  /** The step was not run, because the run is stopped. The steps inside of it cannot be requested. */
  refuse(id: string): void {
    this.#refused.add(id)
  }

  /** Returns a recorded step that the code still has to request. @param isStrict also one that may follow a running step */
  missing(isStrict = false): string | undefined {
    return this.#missing('', { isStrict })
  }

  /** Whether steps of an agent that ran in this step are still to be requested. */
  hasInner(id: string): boolean {
    return [...this.#unused.keys()].some((step) => isInside(step, id) && step !== `${id}:begin`)
  }

  /** Called when a turn ends, in any way. @throws AlliumError `journal.diverged` */
  checkEnd(turnId: string): void {
    this.throwIfDiverged()
    for (const [id, during] of this.#unused)
      if (
        isInside(id, turnId) &&
        !this.#isCovered(id) &&
        // The turn may end while an agent beside the loop is still replayed.
        ![...this.#running].some((one) => isInside(id, one)) &&
        ![...this.#refused].some((one) => mayFollow(id, during, { one }))
      )
        throw this.#diverged(skipped(id))
  }

  /** Called before a step is recorded: it may have ended by the failure of a sub-agent. */
  throwIfDiverged(): void {
    if (this.#divergence !== undefined) throw this.#divergence
  }

  #missing(id: string, { callsOnly = false, isStrict = false }): string | undefined {
    for (const [step, during] of this.#unused) {
      const mayWait = (one: string) =>
        mayFollow(step, isStrict ? [] : during, { one, isReplaying: this.#replaying.has(one) })
      if (this.#isCovered(step)) {
        this.#unused.delete(step)
        this.#replayed.add(step)
      }
      // An agent's journal has the steps of several runs.
      else if (id !== '' && runOf(step) !== runOf(id)) continue
      else if (callsOnly && !callStep.test(step)) continue
      else if (![id, ...this.#refused].some(mayWait) && !this.#outer(id, step).some(mayWait)) return step
    }
    return undefined
  }

  /** The running steps that a recorded step may wait for: it was requested before they ended. A tool call may be queued behind others. */
  #outer(id: string, step: string): string[] {
    const isCall = toolStep.test(step)
    return [...this.#running].filter((one) => isInside(id, one) || (isCall && (id === '' || toolStep.test(one))))
  }

  #isCovered(id: string): boolean {
    if (this.#unused.get(id)?.some((one) => this.#replayed.has(one) && this.#mayHaveMade(one, id))) return true
    for (let i = 0; i < id.length; i++)
      if ((id[i] === ':' || id[i] === '/') && this.#replayed.has(id.slice(0, i))) return true
    return false
  }

  /** Whether a tool call may have made a record, by itself or by its agent, for which an inherited layer records in the turn. */
  #mayHaveMade(call: string, record: string): boolean {
    if (!toolStep.test(call)) return false
    const isOwn = record.startsWith(call.replace(toolStep, '$1:once:tool:$2:'))
    return isOwn || (turnRecord.test(record) && this.#agents.has(agentIn(call)))
  }

  /** Resolves when a recorded step was requested. */
  #requested(id: string, step: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        cancel()
        this.#waiting.delete(wake)
        resolve()
      }
      const cancel = this.#patience(() => {
        this.#waiting.delete(wake)
        reject(this.#diverged(early(id, step)))
      })
      this.#waiting.add(wake)
    })
  }

  #diverged(error: AlliumError): AlliumError {
    this.#divergence ??= error
    return this.#divergence
  }
}

/** The prefix of the sub-agent's ids that a tool call runs. */
function agentIn(id: string): string {
  return id.replace(toolStep, '$1/$2')
}

/** The turn that a step belongs to, also as a step of a sub-agent. */
function runOf(id: string): string | undefined {
  return id.split(counted)[0]?.split('/')[0]
}

function isInside(id: string, outer: string): boolean {
  return [outer, agentIn(outer)].some((one) => id.startsWith(`${one}:`) || id.startsWith(`${one}/`))
}

/** Whether a step may be requested after another one has begun: it was requested while that ran, or is inside of it. */
function mayFollow(
  id: string,
  during: readonly string[],
  { one, isReplaying = false }: { one: string; isReplaying?: boolean },
): boolean {
  return during.includes(one) || (!isReplaying && isInside(id, one))
}

/** Whether a step can only have been skipped: all tool calls of a turn precede its next model call. A `ctx.once()` may run beside both. */
function isCertain(id: string, step: string): boolean {
  const [, turnId, index] = /^(.*):model:(\d+):\d+$/s.exec(id) ?? []
  const call = callStep.exec(step)
  if (turnId === undefined || call === null || !isInside(step, turnId)) return false
  return !step.slice(turnId.length).includes(':once:') && Number(call[1] ?? -1) < Number(index)
}

function skipped(step: string): AlliumError {
  return diverged(
    step,
    `The step "${step}" is recorded, but the current code does not request it, so its effect would be lost.`,
  )
}

function early(id: string, step: string): AlliumError {
  return diverged(
    step,
    `The code requests the new step "${id}" before "${step}", which is recorded, so an effect could be repeated or lost. Make the new step depend on patched().`,
  )
}

function diverged(step: string, what: string): AlliumError {
  return new AlliumError(
    'journal.diverged',
    `${what} Nothing else was run. Continue the run with the version of the code that began it.`,
    { details: { step, differs: ['not requested'] } },
  )
}
