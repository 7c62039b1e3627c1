import {
  type AgentRun,
  type AlliumError,
  type Clock,
  type Decision,
  digestOf,
  type EventLog,
  type Input,
  type RunOptions,
  type SessionKey,
  type ToolDef,
} from '@allium/core'
import { fail } from '../http/problem.ts'
import type { Metrics } from '../metrics.ts'
import type { ServedAgent } from '../options.ts'
import type { Known } from './entry.ts'
import { Pump } from './pump.ts'
import { noteUsed } from './used-tokens.ts'

export interface RunsOptions {
  readonly log: EventLog
  readonly clock: Clock
  readonly onDisconnect: 'continue' | 'abort'
  readonly abortAfter: number
  readonly metrics: Metrics
}

/** What a run is asked: an input, or decisions about the calls that wait. */
export interface Asked {
  readonly agent: ServedAgent
  readonly principal: unknown
  /** @default one that is not stored */
  readonly sessionId?: string | undefined
  readonly input?: Input
  readonly decisions?: Readonly<Record<string, Decision>>
  /** Tools whose calls are handed back to who asks. */
  readonly clientTools?: readonly ToolDef[] | undefined
  readonly idempotencyKey?: string | undefined
  readonly resets?: 'allow' | 'refuse'
  /** @default that of the server */
  readonly onDisconnect?: 'abort' | 'continue' | undefined
  /** Who decides, where that is not the owner. */
  readonly decider?: unknown
}

/** The runs that this process has begun and that go on. */
export class Runs {
  readonly #options: RunsOptions
  readonly #live = new Map<string, Pump>()
  readonly #known = new WeakMap<AgentRun<unknown>, Pump>()
  readonly #going = new Set<Pump>()
  draining = false

  constructor(options: RunsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#going.size
  }

  /**
   * Begins a run, or finds the one of its idempotency key. Whoever asks joins it as a reader.
   *
   * @throws AlliumError `server.draining`, `run.key_reused`
   */
  async begin(asked: Asked): Promise<Pump> {
    if (this.draining) throw fail('server.draining', 'The server is being stopped.')
    const { agent, principal, sessionId, input, decisions, idempotencyKey, decider } = asked
    const of = { principal: principal as never }
    const session = agent.session(sessionId === undefined ? of : { id: sessionId, ...of })
    const digest = await digestOf([input ?? null, decisions ?? null])
    if (decider === undefined) await this.#takeTurn(session.key, idempotencyKey)
    const options: RunOptions = { idempotencyKey, resets: asked.resets, clientTools: asked.clientTools }
    const run =
      decisions === undefined
        ? session.run(input ?? '', options)
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
    if (pump.asked !== digest) throw reused(idempotencyKey)
    if (decisions !== undefined) this.#use(pump, decisions)
    pump.join()
    pump.ended.catch(() => {}).finally(() => session.close().catch(() => {}))
    return pump
  }

  /** A run of this process that goes on. */
  find(key: SessionKey, turnId: string): Pump | undefined {
    const live = this.#live.get(nameOf(key))
    return live?.turnId === turnId ? live : undefined
  }

  /** Waits for what runs; what takes longer is aborted, and kept as interrupted. @param timeout milliseconds */
  async drain(timeout: number): Promise<void> {
    this.draining = true
    const disarm = this.#options.clock.after(timeout, () => {
      for (const pump of this.#going) pump.stop('the server stops')
    })
    await Promise.allSettled([...this.#going].map(({ ended }) => ended))
    disarm()
  }

  #follow(
    run: AgentRun<unknown>,
    key: SessionKey,
    { digest, onDisconnect = this.#options.onDisconnect, ...own }: Digested,
  ): Pump {
    const { log, clock, metrics, abortAfter } = this.#options
    const pump = new Pump(run, { log, clock, key, ...own, asked: digest, onDisconnect, abortAfter })
    this.#known.set(run, pump)
    this.#going.add(pump)
    const name = nameOf(key)
    // A run that is refused, as while another one goes on, is none.
    pump.started.then(
      () => this.#going.has(pump) && this.#live.set(name, pump),
      () => {},
    )
    const over = () => {
      this.#going.delete(pump)
      if (this.#live.get(name) === pump) this.#live.delete(name)
    }
    pump.ended.then(over, over)
    pump.result.then(
      ({ status }) => metrics.run(status),
      (error) => metrics.run(error?.name === 'AbortError' ? 'aborted' : 'failed'),
    )
    return pump
  }

  /** What cannot be noted is told as unknown when it comes again. */
  #use(pump: Pump, decisions: Readonly<Record<string, Decision>>): void {
    const tokens = Object.values(decisions).flatMap((decision) => decision?.token ?? [])
    const note = (token: string) => noteUsed(this.#options.log, pump.key.tenant, token)
    pump.started.then(() => Promise.all(tokens.map(note))).catch(() => {})
  }

  /** A run that nobody reads any more makes way for what its owner asks next. */
  async #takeTurn(key: SessionKey, idempotencyKey: string | undefined): Promise<void> {
    const live = this.#live.get(nameOf(key))
    if (live === undefined || live.readers > 0) return
    if (idempotencyKey !== undefined && live.idempotencyKey === idempotencyKey) return
    live.stop('its owner has asked something else')
    await live.ended.catch(() => {})
  }
}

function knownOf({ clientTools, decisions }: Asked): Known {
  return {
    clientTools: clientTools && new Set(clientTools.map(({ name }) => name)),
    decided: decisions && Object.keys(decisions),
  }
}

interface Digested extends Known {
  readonly sessionId: string | undefined
  readonly digest: string
  readonly idempotencyKey: string | undefined
  readonly onDisconnect: 'abort' | 'continue' | undefined
}

function nameOf({ tenant, owner, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, sessionId])
}

function reused(key: string | undefined): AlliumError {
  return fail(
    'run.key_reused',
    `The key "${key}" stands for another input in this session. Give each input a key of its own.`,
  )
}
