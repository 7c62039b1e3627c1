import { type AlliumError, type ErrorCode, messageOf, type StoredTurn } from '@allium/core'
import { contentKinds } from '@allium/core/internal'
import { recordGivenUp } from '@allium/observe/audit-log'
import type { ClaimedRun, EndedStatus, RunKey } from '@allium/store'
import { type Entry, Inbox, LogWriter, toEntry } from '@allium/store/event-log'
import { ofRun } from '../host/durable-event.ts'
import type { Host } from '../host/host.ts'
import { ReplayFilter } from '../log/replay-filter.ts'
import { pendingCallsOf } from './pending-calls.ts'
import { exposedError, isAbort, isUnreadable, publicError } from './run-errors.ts'
import { storedTask } from './task.ts'

/** Milliseconds between two writes of events. Readers get only logged events, so the first part of an answer does not wait for it. */
const writeInterval = 50

/** Reports a run's events to its readers, and its end once the store has the turn. */
export class RunReporter {
  readonly key: RunKey
  readonly inbox: Inbox
  readonly #host: Host
  readonly #claimed: ClaimedRun
  readonly #writer: LogWriter
  /** Readers have a part of the answer of this step. */
  #hasAnswer = false
  #end: Entry | undefined
  #isGivenUp = false

  constructor(host: Host, claimed: ClaimedRun) {
    const { run, lease } = claimed
    this.key = { key: run.key, turnId: run.run }
    this.#host = host
    this.#claimed = claimed
    const { tenant, owner } = run.key
    const by = { tenant, owner, since: host.clock.now(), lease }
    this.#writer = new LogWriter(host.events, this.key, lease.token, { by, interval: writeInterval })
    this.#writer.delayFirstWrite()
    this.inbox = new Inbox(this.key, (entry) => this.push(entry))
  }

  /** Returns the entries that readers have from earlier attempts. */
  async readKnown(): Promise<Entry[]> {
    const { events } = this.#host
    const latest = await events.latest(this.key.key)
    const entries: Entry[] = []
    if (latest === undefined || latest.turnId !== this.key.turnId || latest.seq === 0) return entries
    for await (const logged of events.read(this.key, 0)) {
      const entry = toEntry(logged)
      this.inbox.observe(entry.event)
      entries.push(entry)
      if (logged.seq >= latest.seq) break
    }
    return entries
  }
  open(): Promise<unknown> {
    return this.#writer.open()
  }
  /** Writes the first part of a step's answer at once, together with the events before it. */
  push(entry: Entry): void {
    const { type } = entry.event
    this.inbox.observe(entry.event)
    this.#writer.push(entry)
    if (type === 'step:start') this.#hasAnswer = false
    if (this.#hasAnswer || !contentKinds.has(type)) return
    this.#hasAnswer = true
    this.#writer.hurry()
  }
  /** Holds the end until `reportEnd()`. */
  holdEnd(entry: Entry): void {
    this.#end = entry
  }

  /** Reports the end. For a failed run, the error follows the end of the turn. An aborted run has no error. */
  async reportEnd(error?: unknown): Promise<void> {
    const { run, lease } = this.#claimed
    if (this.#end !== undefined) this.push(this.#end)
    const failure = error === undefined || isAbort(error) ? undefined : publicError(error)
    if (failure !== undefined) this.push({ event: { type: 'run:error', ...failure } })
    await this.#writer.end((id) => this.inbox.reject(id))
    if (failure !== undefined || !this.#host.marksEnds)
      await this.#host.runs.markReported(lease, run.run, failure?.code)
    if (this.#end === undefined) return
    const { status } = this.#end.event as unknown as { status: EndedStatus }
    this.#host.report({
      type: 'end',
      ...ofRun(run),
      status,
      ...(failure && { code: failure.code }),
      givenUp: this.#isGivenUp && status === 'failed',
    })
  }

  /** Reports the end of a run that was given up, which has no turn. A failed one has an error. */
  async reportEndAs(status: string, error?: AlliumError): Promise<void> {
    // The layers of a turn that has ended have recorded its end.
    if (error !== undefined && this.#end === undefined) await this.#audit(error)
    this.#end = this.#endOf(status)
    this.#isGivenUp = true
    await this.reportEnd(error)
  }

  /** Records the end in the audit of the agent. A run also ends if that fails. */
  async #audit({ code, message: reason }: Pick<AlliumError, 'code' | 'message'>): Promise<void> {
    const { agent, clock, logger } = this.#host
    const { run } = this.#claimed
    const ended = { ...this.key, agent: run.agent, code, reason, queuedAt: run.runAt, clock }
    await recordGivenUp(agent.inspect().layers, ended).catch((error) =>
      logger.error(`The audit has no end of the durable run "${run.run}", which was given up: ${messageOf(error)}`, {
        error,
      }),
    )
  }

  /**
   * Reports the end of a run whose process was lost after storing the end and before reporting it. If its turn can never be read, the end is
   * reported without it.
   */
  async reportMissed(): Promise<void> {
    const { run } = this.#claimed
    const turn = await this.#host.sessions.find(run.key, { turnId: run.run }).catch(nullIfUnreadable)
    const stored = turn ?? undefined
    const entries = await this.readKnown()
    await this.open()
    // Readers receive the answer as the layers display it.
    const display = await this.#host.agent.displayFor(run.key).catch(() => String)
    for (const entry of new ReplayFilter(entries).missingText(display(stored?.answer ?? ''))) this.push(entry)
    const isReportedError = ({ event }: Entry) => event.type === 'run:error' && !('path' in event)
    if (!entries.some(isEnd)) this.#end = await this.#storedEnd(stored)
    const isReported = run.status !== 'failed' || entries.some(isReportedError)
    const error = exposedError((run.code as ErrorCode) ?? 'run.failed', run.reason ?? 'The run has failed.')
    const isGivenUp = turn === undefined
    if (isGivenUp && run.status === 'failed') await this.#audit(error)
    await this.reportEnd(isReported ? undefined : error)
  }

  async #storedEnd(stored: StoredTurn | undefined): Promise<Entry> {
    const { run } = this.#claimed
    const end = this.#endOf(run.status, stored)
    if (run.status !== 'suspended') return end
    const { principal } = storedTask(run.task)
    return { ...end, pending: await pendingCallsOf(this.#host, run, principal) }
  }

  #endOf(status: string, stored?: StoredTurn): Entry {
    const { key, turnId } = this.key
    const { usage, reason } = stored ?? {}
    const turnIndex = Math.max(0, (stored?.rest.turnCount ?? 1) - 1)
    const endReason = status === 'failed' || reason === undefined ? {} : { reason }
    const event = {
      type: 'turn:end',
      sessionId: key.sessionId,
      turnId,
      turnIndex,
      status,
      usage: usage ?? {},
      ...endReason,
    }
    return { event: event as never }
  }
}

/** Whether an entry is the end of the run. A sub-agent's run has its own end. */
export function isEnd({ event }: Entry): boolean {
  return event.type === 'turn:end' && !('path' in event)
}

/** A turn that can never be read is null. */
function nullIfUnreadable(error: unknown): null {
  if (isUnreadable(error)) return null
  throw error
}
