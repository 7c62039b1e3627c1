import type { AgentRun, Decision, EventLog, Logger, RunKey, SessionKey, SessionStore } from '@allium/core'
import type { Durable, RunInfo } from '@allium/durable'
import type { Known } from '@allium/durable/log'
import { fail } from '../http/problem.ts'
import type { Shares, SteerLimit } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { ServedAgent } from '../options.ts'
import type { Answering, ReadersOptions } from './answering.ts'
import { type Asked, type Asking, askedDigest, checkReused, knownOf, optionsOf } from './asked.ts'
import { AttachedRun } from './attached.ts'
import { lasting, stopLasting } from './lasting.ts'
import { LaterRun } from './later-run.ts'
import { nameOf } from './name-of.ts'
import { Pump } from './pump.ts'
import { deleted, Queues } from './queues.ts'
import { showOf } from './show-of.ts'
import { SteerLimits } from './steer-limits.ts'
import { saidIn, steeredRun } from './steered-run.ts'
import { noteUsed } from './used-tokens.ts'

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

/** The runs that this process has begun and that go on. */
export class Runs {
  readonly #options: RunsOptions
  readonly #live = new Map<string, Answering>()
  readonly #known = new WeakMap<AgentRun<unknown>, Pump>()
  readonly #going = new Set<Answering>()
  /** Called when the process drains. No AbortController: workerd allows none while a module loads, or of another request. */
  readonly #onClose = new Set<() => void>()
  #closed = false
  readonly #queues: Queues
  /** Inputs that wait for their session. */
  readonly #waiting = new Set<LaterRun>()
  /** The agents of runs that hold a place among the runs of their user. */
  readonly #agents = new WeakMap<Answering, ServedAgent>()
  readonly steers: SteerLimits
  draining = false

  constructor(options: RunsOptions) {
    this.#options = options
    this.#queues = new Queues(options, (key) => this.#live.get(nameOf(key)))
    this.steers = new SteerLimits(options.steerLimit)
  }

  /** Calls back when the process drains, so that readers of runs elsewhere come back to another process. Returns what takes that back. */
  onClose(fn: () => void): () => void {
    if (this.#closed) fn()
    else this.#onClose.add(fn)
    return () => this.#onClose.delete(fn)
  }

  get size(): number {
    return this.#going.size
  }

  /**
   * Begins a run, or finds the one of its idempotency key. Whoever asks joins it as a reader.
   *
   * @throws AlliumError `server.draining`, `run.key_reused`
   */
  async begin(asked: Asked): Promise<Answering> {
    const { agent, principal, sessionId, idempotencyKey, decider } = asked
    if (decider !== undefined) return this.#begin(asked)
    const of = { principal: principal as never }
    const { key } = agent.session(sessionId === undefined ? of : { id: sessionId, ...of })
    if (sessionId !== undefined) await this.#options.sessions.adopt(key, [])
    await this.#takeTurn(key, idempotencyKey)
    const live = this.#live.get(nameOf(key))
    const isKnown = live !== undefined && idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey
    if (this.#options.onBusy === 'reject' || sessionId === undefined || isKnown) return this.#begin(asked)
    const { clock } = this.#options
    const later = new LaterRun({ key, idempotencyKey, clock }, (left) => this.#later(key, asked, left))
    this.#waiting.add(later)
    const over = () => this.#waiting.delete(later)
    later.started.then(over, over)
    return later
  }

  /** Said to the run that goes on, or begun behind it. */
  async #later(key: SessionKey, asked: Asked, left: AbortSignal): Promise<Answering> {
    const { onBusy } = this.#options
    const { agent, principal, input, output, decisions, idempotencyKey } = asked
    // Where agents share a history, the run that goes on may be one of another agent.
    const isOwn = agent.sessionGroup === undefined
    // A run that goes on has the form of answer that it was asked for.
    const said = isOwn && decisions === undefined && output === undefined ? saidIn(input) : undefined
    if (onBusy === 'steer' && said !== undefined) {
      const id = idempotencyKey ?? crypto.randomUUID()
      const { steers } = this
      const show = this.#showing(agent, key)
      const run = await steeredRun(said, { ...this.#options, steers, show, principal, key, idempotencyKey, id, left })
      if (run !== undefined) return run
    }
    return this.#queues.begin(key, left, () => this.#begin(asked))
  }

  async #begin(asked: Asked): Promise<Answering> {
    if (this.draining) throw fail('server.draining', 'The server is being stopped.')
    const { agent, principal, sessionId } = asked
    const of = { principal: principal as never }
    const session = agent.session(sessionId === undefined ? of : { id: sessionId, ...of })
    const place = this.#options.shares.runs.take(session.key)
    try {
      const run = await this.#run(session, asked)
      // A run that is found by its key has its place.
      if (this.#agents.has(run)) place.release()
      else run.ended.catch(() => {}).finally(() => place.release())
      this.#agents.set(run, agent)
      return run
    } catch (error) {
      place.release()
      throw error
    }
  }

  async #run(session: ReturnType<ServedAgent['session']>, asked: Asked): Promise<Answering> {
    const { agent, sessionId, input, decisions, idempotencyKey, decider } = asked
    const durable = this.#durableOf(agent)
    if (durable !== undefined && sessionId !== undefined) return this.#start(durable, session.key, asked)
    const [digest, options] = [await askedDigest(asked), optionsOf(asked)]
    const run =
      decisions === undefined
        ? session.run(input, options)
        : session.resume(decisions, decider === undefined ? options : { ...options, decider: decider as never })
    const pump =
      this.#known.get(run) ??
      this.#follow(run, session.key, {
        sessionId,
        ...knownOf(asked),
        digest,
        idempotencyKey,
        onDisconnect: asked.onDisconnect,
      })
    checkReused(pump.asked, digest, idempotencyKey)
    this.#use(pump, decisions)
    pump.readers.join()
    pump.ended.catch(() => {}).finally(() => session.close().catch(() => {}))
    return pump
  }

  /** How a durable run stands; undefined where it is none of this principal. */
  lasting(turnId: string, of: Asking): Promise<RunInfo | undefined> {
    return lasting(this.#durableOf(of.agent), turnId, of)
  }

  /** Stops a run, in whichever process it is; false where it has ended. */
  async stop(run: RunKey, of: Asking): Promise<boolean> {
    const asked = await stopLasting(this.#durableOf(of.agent), run.turnId, of)
    return asked ?? this.#options.log.signal(run, { stop: true })
  }

  /** Ends the inputs that wait for a session: it is deleted. Resolves once none of them begins any more. */
  async drop(key: SessionKey): Promise<void> {
    const name = nameOf(key)
    const isOf = (run: Answering) => nameOf(run.key) === name
    const dropped = [...this.#waiting].filter(isOf).map((run) => run.drop(deleted()))
    // Those that were begun, and may wait in a layer before their turn.
    for (const run of this.#going) if (isOf(run) && this.#live.get(name) !== run) run.stop('its session is deleted')
    await Promise.all(dropped)
  }

  /** A run of this process that goes on. */
  find(key: SessionKey, turnId: string): Answering | undefined {
    const live = this.#live.get(nameOf(key))
    return live?.turnId === turnId ? live : undefined
  }

  /** The agent of a run of this process that goes on. */
  agentOf(key: SessionKey, turnId: string): ServedAgent | undefined {
    const run = this.find(key, turnId)
    return run && this.#agents.get(run)
  }

  /** Waits for what runs; what takes longer is aborted, and kept as interrupted, or goes on elsewhere. @param timeout milliseconds */
  async drain(timeout: number): Promise<void> {
    this.draining = true
    const { clock, durables } = this.#options
    const attached = () => [...this.#going].filter((run) => run instanceof AttachedRun)
    const left = Promise.all(durables.map((durable) => durable.drain({ timeout }))).then(() => {
      for (const run of attached()) run.detach()
    })
    const disarm = clock.after(timeout, () => {
      for (const run of this.#going)
        if (run instanceof AttachedRun) run.detach()
        else run.stop('the server stops')
    })
    await Promise.allSettled([...this.#going].map(({ ended }) => ended))
    disarm()
    left.catch(() => {})
    this.#closed = true
    for (const fn of this.#onClose) fn()
  }

  #durableOf(agent: ServedAgent): Durable | undefined {
    return this.#options.durables.find((durable) => (durable.agent as unknown) === agent)
  }

  /** As a durable run: this process, or another one, has it. */
  async #start(durable: Durable, key: SessionKey, asked: Asked): Promise<Answering> {
    const { principal, input, decisions, decider, clientTools, output, idempotencyKey, resets } = asked
    const what = decisions === undefined ? { input } : { decisions, decider }
    const { sessionId } = key
    const own = { principal, sessionId, clientTools, output, idempotencyKey, resets, onBusy: 'reject' } as const
    const started = await durable.start({ ...what, ...own })
    const { onDisconnect } = this.#options
    const show = this.#showing(asked.agent, key)
    const options = { ...this.#options, runs: durable, show, principal, key, idempotencyKey }
    const run =
      this.find(key, started.turnId) ??
      this.#note(new AttachedRun(started, { ...options, onDisconnect: asked.onDisconnect ?? onDisconnect }))
    this.#use(run, decisions)
    run.readers.join()
    return run
  }

  #showing(agent: ServedAgent, key: SessionKey): (text: string) => Promise<string> {
    return async (text) => (await showOf(agent, key, this.#options.logger))(text)
  }

  #follow(
    run: AgentRun<unknown>,
    key: SessionKey,
    { digest, onDisconnect = this.#options.onDisconnect, ...own }: Digested,
  ): Pump {
    const pump = new Pump(run, { ...this.#options, key, ...own, asked: digest, onDisconnect })
    this.#known.set(run, pump)
    return this.#note(pump)
  }

  #note<R extends Answering>(run: R): R {
    const { metrics } = this.#options
    this.#going.add(run)
    const name = nameOf(run.key)
    // A run that is refused, as while another one goes on, is none.
    run.started.then(
      () => this.#going.has(run) && this.#live.set(name, run),
      () => {},
    )
    const over = () => {
      this.#going.delete(run)
      if (this.#live.get(name) === run) this.#live.delete(name)
    }
    run.ended.then(over, over)
    run.answer().then(
      ({ status }) => metrics.run(status),
      () => metrics.run('failed'),
    )
    return run
  }

  /** What cannot be noted is told as unknown when it comes again. */
  #use(run: Answering, decisions: Readonly<Record<string, Decision>> = {}): void {
    const tokens = Object.values(decisions).flatMap((decision) => decision?.token ?? [])
    const note = (token: string) => noteUsed(this.#options.log, run.key, token)
    run.started.then(() => Promise.all(tokens.map(note))).catch(() => {})
  }

  /** A run that nobody reads any more makes way for what its owner asks next. */
  async #takeTurn(key: SessionKey, idempotencyKey: string | undefined): Promise<void> {
    const live = this.#live.get(nameOf(key))
    if (live === undefined || live.readers.count > 0) return
    if (idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey) return
    live.stop('its owner has asked something else')
    await live.ended.catch(() => {})
  }
}

interface Digested extends Known {
  readonly sessionId: string | undefined
  readonly digest: string
  readonly idempotencyKey: string | undefined
  readonly onDisconnect: 'abort' | 'continue' | undefined
}
