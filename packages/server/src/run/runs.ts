import { type Logger, type Message, type SessionKey, sessionKeyOf } from '@allium/core'
import type { EventLog, RunKey, SessionStore } from '@allium/store'
import type { DurableInfo, DurableRuns } from '../options/durable-runs.ts'
import type { Shares, SteerLimit } from '../options/limits.ts'
import type { ServedAgent } from '../options/options.ts'
import { ActiveRuns } from './active-runs.ts'
import { durableStatus, stopDurable } from './durable-status.ts'
import type { Metrics } from './metrics.ts'
import { QueuedRun } from './queued-run.ts'
import { deleted, Queues } from './queues.ts'
import type { ReadersOptions, RunHandle } from './run-handle.ts'
import type { AgentCaller, AgentRunRequest } from './run-request.ts'
import { RunStarter, sessionOf } from './run-starter.ts'
import { SteerLimits } from './steer-limits.ts'
import { steerRun, userContentOf } from './steer-run.ts'

export interface RunsOptions extends ReadersOptions {
  readonly shares: Pick<Shares, 'runs' | 'queued'>
  readonly steerLimit: SteerLimit
  readonly log: EventLog
  readonly sessions: SessionStore
  readonly metrics: Metrics
  readonly logger: Logger
  readonly durables: readonly DurableRuns[]
  readonly onBusy: 'reject' | 'steer' | 'queue'
}

/** Starts runs, and finds, steers, queues and stops them. */
export class Runs {
  readonly #options: RunsOptions
  readonly #active: ActiveRuns
  readonly #starter: RunStarter
  readonly #queues: Queues
  /** Inputs that wait for their session. */
  readonly #waiting = new Set<QueuedRun>()
  readonly #steerLimits: SteerLimits

  constructor(options: RunsOptions) {
    this.#options = options
    this.#active = new ActiveRuns(options)
    this.#starter = new RunStarter(options, this.#active)
    this.#queues = new Queues(options, (key) => this.#active.current(key))
    this.#steerLimits = new SteerLimits(options.steerLimit)
  }

  get size(): number {
    return this.#active.size
  }

  get draining(): boolean {
    return this.#starter.draining
  }

  /**
   * Calls `fn` when the process drains, so that readers of runs elsewhere reconnect to another process. Returns a function that
   * unsubscribes.
   */
  onClose(fn: () => void): () => void {
    return this.#active.onClose(fn)
  }

  /**
   * Starts a run, or finds the run of its idempotency key. The caller joins it as a reader.
   *
   * @throws AlliumError `server.draining`, `run.key_reused`
   */
  async start(given: AgentRunRequest): Promise<RunHandle> {
    const { sessionId, approver } = given
    if (approver !== undefined) return this.#starter.start(given)
    const { key } = sessionOf(given)
    if (sessionId !== undefined) await this.#options.sessions.rename(key, [])
    const request = this.#withKeyOfActive(key, given)
    const { idempotencyKey } = request
    await this.#preemptUnread(key, idempotencyKey)
    const live = this.#active.current(key)
    const isSameRequest = live !== undefined && idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey
    if (this.#options.onBusy === 'reject' || sessionId === undefined || isSameRequest)
      return this.#starter.start(request)
    const { clock } = this.#options
    const later = new QueuedRun({ key, idempotencyKey, clock }, (abandoned) =>
      this.#steerOrQueue(key, request, abandoned),
    )
    this.#waiting.add(later)
    const untrack = () => this.#waiting.delete(later)
    later.started.then(untrack, untrack)
    return later
  }

  /** Sends the input to the active run, or queues it. */
  async #steerOrQueue(key: SessionKey, request: AgentRunRequest, abandoned: AbortSignal): Promise<RunHandle> {
    const { onBusy } = this.#options
    const { agent, principal, input, output, decisions, message, idempotencyKey } = request
    // If agents share a history, the active run may belong to another agent.
    const isSameAgent = agent.sessionGroup === undefined
    // The active run answers in the output format of its own request.
    const steerContent =
      isSameAgent && decisions === undefined && output === undefined ? userContentOf(input) : undefined
    if (onBusy === 'steer' && steerContent !== undefined && (await message?.isNew()) !== false) {
      const id = message?.id ?? idempotencyKey ?? crypto.randomUUID()
      const send = (run: RunKey) => this.steer(run, { id, message: steerContent })
      const display = this.#starter.displayFor(agent, key)
      const steer = { send, display, principal, key, idempotencyKey, id, abandoned }
      const steered = await steerRun({ ...this.#options, ...steer })
      if (steered !== undefined) return steered
    }
    return this.#queues.start(key, abandoned, () => this.#starter.start(request))
  }

  /** Returns the status of a durable run; undefined if this principal has no such run. */
  durableStatus(turnId: string, caller: AgentCaller): Promise<DurableInfo | undefined> {
    return durableStatus(this.#starter.durableOf(caller.agent), turnId, caller)
  }

  /** Stops a run, whichever process executes it. Returns false if it has ended. */
  async stop(run: RunKey, caller: AgentCaller): Promise<boolean> {
    const stopped = await stopDurable(this.#starter.durableOf(caller.agent), run.turnId, caller)
    return stopped ?? this.#options.log.signal(run, { stop: true })
  }

  /**
   * Sends a message to an active run, whichever process executes it. Returns false if it has ended.
   *
   * @throws AlliumError `server.limit`, `request.too_large` for more than a run accepts
   */
  async steer(run: RunKey, { id, message }: { id: string; message: Message['content'] }): Promise<boolean> {
    this.#steerLimits.count(run, id, message)
    return this.#options.log.signal(run, { steer: message, id })
  }

  /** Rejects the inputs that wait for a session, because it is deleted. Resolves once none of them can start anymore. */
  async drop(key: SessionKey): Promise<void> {
    const name = sessionKeyOf({ sessionKey: key })
    const waiting = [...this.#waiting].filter((run) => sessionKeyOf({ sessionKey: run.key }) === name)
    const dropped = waiting.map((run) => run.drop(deleted()))
    this.#active.stopWaiting(key, 'its session is deleted')
    await Promise.all(dropped)
  }

  /** Returns an active run of this process. */
  find(key: SessionKey, turnId: string): RunHandle | undefined {
    return this.#active.find(key, turnId)
  }

  /** Returns the agent of an active run of this process. */
  agentOf(key: SessionKey, turnId: string): ServedAgent | undefined {
    const run = this.find(key, turnId)
    return run && this.#active.agentOf(run)
  }

  /** Waits until no run is active. */
  idle(): Promise<void> {
    return this.#active.idle()
  }

  /**
   * Waits for active runs. After `timeout`, aborts the rest: they are stored as interrupted, or continue elsewhere. @param timeout
   * milliseconds
   */
  drain(timeout: number): Promise<void> {
    this.#starter.draining = true
    return this.#active.drain(timeout)
  }

  /** Returns the request with the key of the active run, if that run answers the same message. */
  #withKeyOfActive(key: SessionKey, request: AgentRunRequest): AgentRunRequest {
    const { idempotencyKey = '' } = this.#active.current(key) ?? {}
    if (request.message?.isAnsweredBy(idempotencyKey) !== true) return request
    return { ...request, idempotencyKey, message: undefined }
  }

  /** Stops an active run without readers, so that its owner's next request can start. */
  async #preemptUnread(key: SessionKey, idempotencyKey: string | undefined): Promise<void> {
    const live = this.#active.current(key)
    if (live === undefined || live.readers.count > 0) return
    if (idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey) return
    live.stop('its owner sent another input')
    await live.ended.catch(() => {})
  }
}
