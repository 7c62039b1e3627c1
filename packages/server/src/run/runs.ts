import type { AgentRun, Decision, Logger, SessionKey } from '@allium/core'
import type { Durable, RunInfo } from '@allium/durable'
import type { EntryContext } from '@allium/durable/log'
import type { EventLog, RunKey, SessionStore } from '@allium/store'
import { requestError } from '../http/problem.ts'
import type { Shares, SteerLimit } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { ServedAgent } from '../options.ts'
import { displayTransformOf } from './display-transform.ts'
import { durableStatus, stopDurable } from './durable-status.ts'
import { LocalRun } from './local-run.ts'
import { QueuedRun } from './queued-run.ts'
import { deleted, Queues } from './queues.ts'
import { RemoteRun } from './remote-run.ts'
import type { ReadersOptions, RunHandle } from './run-handle.ts'
import {
  type AgentCaller,
  type AgentRunRequest,
  checkKeyReuse,
  entryContextOf,
  inputDigestOf,
  runOptionsOf,
} from './run-request.ts'
import { sessionKeyString } from './session-key-string.ts'
import { SteerLimits } from './steer-limits.ts'
import { steerRun, userContentOf } from './steer-run.ts'
import { markTokenUsed } from './used-tokens.ts'

export interface RunsOptions extends ReadersOptions {
  readonly shares: Pick<Shares, 'runs' | 'queued'>
  readonly steerLimit: SteerLimit
  readonly log: EventLog
  readonly sessions: SessionStore
  readonly metrics: Metrics
  readonly logger: Logger
  readonly durables: readonly Durable[]
  readonly onBusy: 'reject' | 'steer' | 'queue'
}

/** The active runs that this process started. */
export class Runs {
  readonly #options: RunsOptions
  readonly #current = new Map<string, RunHandle>()
  readonly #localRuns = new WeakMap<AgentRun<unknown>, LocalRun>()
  readonly #active = new Set<RunHandle>()
  /**
   * Called when the process drains. Not an AbortController: workerd does not allow one while a module loads, nor one of another request.
   */
  readonly #closeListeners = new Set<() => void>()
  #closed = false
  readonly #queues: Queues
  /** Inputs that wait for their session. */
  readonly #waiting = new Set<QueuedRun>()
  /** Agents of the runs that hold a permit. */
  readonly #agents = new WeakMap<RunHandle, ServedAgent>()
  readonly steerLimits: SteerLimits
  draining = false

  constructor(options: RunsOptions) {
    this.#options = options
    this.#queues = new Queues(options, (key) => this.#current.get(sessionKeyString(key)))
    this.steerLimits = new SteerLimits(options.steerLimit)
  }

  /**
   * Calls `fn` when the process drains, so that readers of runs elsewhere reconnect to another process. Returns a function that
   * unsubscribes.
   */
  onClose(fn: () => void): () => void {
    if (this.#closed) fn()
    else this.#closeListeners.add(fn)
    return () => this.#closeListeners.delete(fn)
  }

  get size(): number {
    return this.#active.size
  }

  /**
   * Starts a run, or finds the run of its idempotency key. The caller joins it as a reader.
   *
   * @throws AlliumError `server.draining`, `run.key_reused`
   */
  async start(request: AgentRunRequest): Promise<RunHandle> {
    const { agent, principal, sessionId, idempotencyKey, approver } = request
    if (approver !== undefined) return this.#startNow(request)
    const sessionOptions = { principal: principal as never }
    const { key } = agent.session(sessionId === undefined ? sessionOptions : { id: sessionId, ...sessionOptions })
    if (sessionId !== undefined) await this.#options.sessions.rename(key, [])
    await this.#preemptUnread(key, idempotencyKey)
    const live = this.#current.get(sessionKeyString(key))
    const isSameRequest = live !== undefined && idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey
    if (this.#options.onBusy === 'reject' || sessionId === undefined || isSameRequest) return this.#startNow(request)
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
    const { agent, principal, input, output, decisions, idempotencyKey } = request
    // If agents share a history, the active run may belong to another agent.
    const isSameAgent = agent.sessionGroup === undefined
    // The active run answers in the output format of its own request.
    const steerContent =
      isSameAgent && decisions === undefined && output === undefined ? userContentOf(input) : undefined
    if (onBusy === 'steer' && steerContent !== undefined) {
      const id = idempotencyKey ?? crypto.randomUUID()
      const { steerLimits } = this
      const display = this.#displayFor(agent, key)
      const run = await steerRun(steerContent, {
        ...this.#options,
        steerLimits,
        display,
        principal,
        key,
        idempotencyKey,
        id,
        abandoned,
      })
      if (run !== undefined) return run
    }
    return this.#queues.start(key, abandoned, () => this.#startNow(request))
  }

  async #startNow(request: AgentRunRequest): Promise<RunHandle> {
    if (this.draining) throw requestError('server.draining', 'The server is being stopped.')
    const { agent, principal, sessionId } = request
    const sessionOptions = { principal: principal as never }
    const session = agent.session(sessionId === undefined ? sessionOptions : { id: sessionId, ...sessionOptions })
    const permit = this.#options.shares.runs.acquire(session.key)
    try {
      const run = await this.#startRun(session, request)
      // A run that was found by its key already has a permit.
      if (this.#agents.has(run)) permit.release()
      else run.ended.catch(() => {}).finally(() => permit.release())
      this.#agents.set(run, agent)
      return run
    } catch (error) {
      permit.release()
      throw error
    }
  }

  async #startRun(session: ReturnType<ServedAgent['session']>, request: AgentRunRequest): Promise<RunHandle> {
    const { agent, sessionId, input, decisions, idempotencyKey, approver } = request
    const durable = this.#durableOf(agent)
    if (durable !== undefined && sessionId !== undefined) return this.#startDurable(durable, session.key, request)
    const [digest, options] = [await inputDigestOf(request), runOptionsOf(request)]
    const run =
      decisions === undefined
        ? session.run(input, options)
        : session.resume(decisions, approver === undefined ? options : { ...options, approver: approver as never })
    const localRun =
      this.#localRuns.get(run) ??
      this.#trackLocal(run, session.key, {
        sessionId,
        ...entryContextOf(request),
        digest,
        idempotencyKey,
        onDisconnect: request.onDisconnect,
      })
    checkKeyReuse(localRun.asked, digest, idempotencyKey)
    this.#markTokensUsed(localRun, decisions)
    localRun.readers.join()
    localRun.ended.catch(() => {}).finally(() => session.close().catch(() => {}))
    return localRun
  }

  /** Returns the status of a durable run; undefined if this principal has no such run. */
  durableStatus(turnId: string, caller: AgentCaller): Promise<RunInfo | undefined> {
    return durableStatus(this.#durableOf(caller.agent), turnId, caller)
  }

  /** Stops a run, whichever process executes it. Returns false if it has ended. */
  async stop(run: RunKey, caller: AgentCaller): Promise<boolean> {
    const stopped = await stopDurable(this.#durableOf(caller.agent), run.turnId, caller)
    return stopped ?? this.#options.log.signal(run, { stop: true })
  }

  /** Rejects the inputs that wait for a session, because it is deleted. Resolves once none of them can start anymore. */
  async drop(key: SessionKey): Promise<void> {
    const name = sessionKeyString(key)
    const isOf = (run: RunHandle) => sessionKeyString(run.key) === name
    const dropped = [...this.#waiting].filter(isOf).map((run) => run.drop(deleted()))
    // Started runs may still be waiting in a layer before their turn.
    for (const run of this.#active) if (isOf(run) && this.#current.get(name) !== run) run.stop('its session is deleted')
    await Promise.all(dropped)
  }

  /** Returns an active run of this process. */
  find(key: SessionKey, turnId: string): RunHandle | undefined {
    const live = this.#current.get(sessionKeyString(key))
    return live?.turnId === turnId ? live : undefined
  }

  /** Returns the agent of an active run of this process. */
  agentOf(key: SessionKey, turnId: string): ServedAgent | undefined {
    const run = this.find(key, turnId)
    return run && this.#agents.get(run)
  }

  /**
   * Waits for active runs. After `timeout`, aborts the rest: they are stored as interrupted, or continue elsewhere. @param timeout
   * milliseconds
   */
  async drain(timeout: number): Promise<void> {
    this.draining = true
    const { clock, durables } = this.#options
    const remoteRuns = () => [...this.#active].filter((run) => run instanceof RemoteRun)
    const durablesDrained = Promise.all(durables.map((durable) => durable.drain({ timeout }))).then(() => {
      for (const run of remoteRuns()) run.detach()
    })
    const disarm = clock.after(timeout, () => {
      for (const run of this.#active)
        if (run instanceof RemoteRun) run.detach()
        else run.stop('the server stops')
    })
    await Promise.allSettled([...this.#active].map(({ ended }) => ended))
    disarm()
    durablesDrained.catch(() => {})
    this.#closed = true
    for (const fn of this.#closeListeners) fn()
  }

  #durableOf(agent: ServedAgent): Durable | undefined {
    return this.#options.durables.find((durable) => (durable.agent as unknown) === agent)
  }

  /** Starts a durable run. This process or another one executes it. */
  async #startDurable(durable: Durable, key: SessionKey, request: AgentRunRequest): Promise<RunHandle> {
    const { principal, input, decisions, approver, clientTools, output, idempotencyKey, onRetryAfterOutput } = request
    const payload = decisions === undefined ? { input } : { decisions, approver }
    const { sessionId } = key
    const settings = {
      principal,
      sessionId,
      clientTools,
      output,
      idempotencyKey,
      onRetryAfterOutput,
      onBusy: 'reject',
    } as const
    const started = await durable.start({ ...payload, ...settings })
    const { onDisconnect } = this.#options
    const display = this.#displayFor(request.agent, key)
    const options = { ...this.#options, runs: durable, display, principal, key, idempotencyKey }
    const run =
      this.find(key, started.turnId) ??
      this.#track(new RemoteRun(started, { ...options, onDisconnect: request.onDisconnect ?? onDisconnect }))
    this.#markTokensUsed(run, decisions)
    run.readers.join()
    return run
  }

  #displayFor(agent: ServedAgent, key: SessionKey): (text: string) => Promise<string> {
    return async (text) => (await displayTransformOf(agent, key, this.#options.logger))(text)
  }

  #trackLocal(
    run: AgentRun<unknown>,
    key: SessionKey,
    { digest, onDisconnect = this.#options.onDisconnect, ...settings }: LocalRunSpec,
  ): LocalRun {
    const localRun = new LocalRun(run, { ...this.#options, key, ...settings, asked: digest, onDisconnect })
    this.#localRuns.set(run, localRun)
    return this.#track(localRun)
  }

  #track<R extends RunHandle>(run: R): R {
    const { metrics } = this.#options
    this.#active.add(run)
    const name = sessionKeyString(run.key)
    // A run that is rejected, for example because another one is active, never becomes the current one.
    run.started.then(
      () => this.#active.has(run) && this.#current.set(name, run),
      () => {},
    )
    const untrack = () => {
      this.#active.delete(run)
      if (this.#current.get(name) === run) this.#current.delete(name)
    }
    run.ended.then(untrack, untrack)
    run.answer().then(
      ({ status }) => metrics.run(status),
      () => metrics.run('failed'),
    )
    return run
  }

  /** Marks the tokens of decisions as used. If that fails, a repeated token is reported as unknown. */
  #markTokensUsed(run: RunHandle, decisions: Readonly<Record<string, Decision>> = {}): void {
    const tokens = Object.values(decisions).flatMap((decision) => decision?.token ?? [])
    const mark = (token: string) => markTokenUsed(this.#options.log, run.key, token)
    run.started.then(() => Promise.all(tokens.map(mark))).catch(() => {})
  }

  /** Stops an active run without readers, so that its owner's next request can start. */
  async #preemptUnread(key: SessionKey, idempotencyKey: string | undefined): Promise<void> {
    const live = this.#current.get(sessionKeyString(key))
    if (live === undefined || live.readers.count > 0) return
    if (idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey) return
    live.stop('its owner has asked something else')
    await live.ended.catch(() => {})
  }
}

interface LocalRunSpec extends EntryContext {
  readonly sessionId: string | undefined
  readonly digest: string
  readonly idempotencyKey: string | undefined
  readonly onDisconnect: 'abort' | 'continue' | undefined
}
