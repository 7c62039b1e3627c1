import {
  type AgentRun,
  AlliumError,
  type Decision,
  type Input,
  isAlliumError,
  type Middleware,
  type RegisteredPrincipal,
  type RunResult,
  type Session,
  type Snapshot,
} from '@allium/core'
import { continuation, type Handoff } from '../handoff.ts'
import type { GroupAgent, GroupSessionOptions } from './group-agent.ts'
import { GroupRun, type StartedTurn } from './group-run.ts'
import type { LiveGroupRuns } from './live-runs.ts'
import { handoffKey, handoffReason } from './targets.ts'

type Options = NonNullable<Parameters<Session<unknown, unknown>['resume']>[1]>

/** A session of a group of agents. `agentGroup()` shows it as a `Session`, whose members it has. */
export class SessionOfAgents {
  readonly id: string
  readonly #agents: ReadonlyMap<string, GroupAgent>
  readonly #runs: LiveGroupRuns
  readonly #options: GroupSessionOptions
  #agent: GroupAgent
  #session: Session<unknown, unknown> | undefined
  #isOpen = false

  constructor(agents: ReadonlyMap<string, GroupAgent>, runs: LiveGroupRuns, options: GroupSessionOptions) {
    this.#agents = agents
    this.#runs = runs
    this.id = options.id ?? crypto.randomUUID()
    this.#options = { ...options, id: this.id }
    this.#agent = [...agents.values()][0] as GroupAgent
  }

  /** The name of the agent that the next turn runs on. A stored session knows it after `open()` or its first run. */
  get agent(): string {
    return this.#agent.name
  }
  get key() {
    return this.#current.key
  }
  get history() {
    return this.#current.history
  }
  get state() {
    return this.#current.state
  }
  get pending() {
    return this.#current.pending
  }
  snapshot(): Snapshot {
    return this.#current.snapshot()
  }
  pendingFor(principal: RegisteredPrincipal) {
    return this.#current.pendingFor(principal)
  }
  checkDecisions(decisions: Readonly<Record<string, Decision>>, options?: { approver?: RegisteredPrincipal }) {
    return this.#current.checkDecisions(decisions, options)
  }
  fork(options?: Parameters<Session['fork']>[0]) {
    return this.#current.fork(options)
  }
  async rewind(options: { to: string }): Promise<void> {
    await this.#current.rewind(options)
    await this.#follow(this.#current.snapshot())
  }
  restore(snapshot: Snapshot): void {
    this.#agent = this.#agentOf(snapshot)
    this.#session = undefined
    this.#current.restore(snapshot)
    this.#isOpen = true
  }
  abort(reason?: unknown): void {
    this.#runs.abort(this.key, reason)
  }

  /** Finds the current agent of a stored session. */
  async open(): Promise<void> {
    await this.#current.open()
    if (this.#isOpen) return
    await this.#follow(this.#current.snapshot())
    this.#isOpen = true
  }

  run(input: Input, options: Options = {}): GroupRun {
    return this.#start({ input }, options, (session, signal) =>
      session.run(input, { ...options, signal, ...continuing(options) }),
    )
  }

  /** Decides pending calls on the agent that suspended them. */
  resume(decisions: Readonly<Record<string, Decision>>, options: Options = {}): GroupRun {
    return this.#start({ decisions }, options, (session, signal) =>
      session.resume(decisions, { ...options, signal, ...continuing(options) }),
    )
  }

  async close(): Promise<void> {
    await this.#runs.settled(this.key)
    await this.#session?.close()
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #start(
    request: object,
    options: Options,
    begin: (session: Session<unknown, unknown>, signal: AbortSignal) => AgentRun<unknown, unknown>,
  ): GroupRun {
    const { idempotencyKey, turnId } = options
    return this.#runs.start(this.key, { idempotencyKey, request }, () => {
      let count = 0
      const untried = new Set(this.#agents.values())
      return new GroupRun(options.signal, {
        // With an id, the caller starts each turn itself, as durable runs do.
        isSingle: turnId !== undefined,
        begin: async (signal) => {
          await this.open()
          untried.delete(this.#agent)
          return { turn: begin(this.#current, signal) as StartedTurn['turn'] }
        },
        // The key of a run is known to the agent that ran it.
        otherwise: async (error, signal) => {
          const [other] = untried
          if (count > 0 || other === undefined || !isAlliumError(error, 'run.key_reused')) return undefined
          untried.delete(other)
          await this.#switch(other)
          return { turn: begin(this.#current, signal) as StartedTurn['turn'] }
        },
        next: async (ended, signal) =>
          turnId === undefined ? this.#next(ended, { ...options, signal }, ++count) : this.#leave(),
        isRead: (turn) => this.#runs.isRead(turn),
      })
    })
  }

  /** Starts the turn of the agent that the last turn handed off to. */
  async #next(
    { status, reason, state }: RunResult<unknown>,
    { idempotencyKey, ...options }: Options,
    count: number,
  ): Promise<StartedTurn | undefined> {
    await this.#leave()
    const { agent, waiting } = handoffIn(state) ?? {}
    if (status !== 'stopped' || reason !== handoffReason || waiting !== true) return undefined
    if (agent !== this.agent) throw notInGroup(this.agent, `${agent}`)
    const key = idempotencyKey === undefined ? undefined : `${idempotencyKey}/handoff-${count}`
    const turn = this.#current.run(continuation, { ...options, idempotencyKey: key })
    return { turn: turn as StartedTurn['turn'] }
  }

  async #leave(): Promise<undefined> {
    await this.#follow(this.#current.snapshot())
  }

  /** Continues on the agent that suspended a call, or that the session was handed off to. */
  async #follow(snapshot: Snapshot): Promise<void> {
    const agent = this.#agentOf(snapshot)
    if (agent !== this.#agent) await this.#switch(agent, snapshot)
  }

  async #switch(agent: GroupAgent, snapshot = this.#current.snapshot()): Promise<void> {
    await this.#current.close()
    this.#agent = agent
    this.#session = undefined
    if (isStored(agent)) await this.#current.open()
    else this.#current.restore(snapshot)
  }

  get #current(): Session<unknown, unknown> {
    this.#session ??= this.#agent.session(this.#options as never)
    return this.#session
  }

  /** Returns the agent of a snapshot. A name that is not in the group is ignored, because it comes from a store. */
  #agentOf({ suspension, state }: Snapshot): GroupAgent {
    const [call] = Object.values(suspension?.calls ?? {})
    return this.#agents.get(call?.agent ?? handoffIn(state)?.agent ?? '') ?? this.#agent
  }
}

/** The key of a function of a journal whose owner starts each turn itself, as durable runs do. */
const continues = Symbol.for('allium:continues')

/** Returns a layer that tells the owner of the journal to start the turn after a handoff, before this one is stored. */
function continuing({ journal, use = [] }: Options): Pick<Options, 'use'> {
  const start = (journal as { [continues]?: (input: Input) => Promise<void> } | undefined)?.[continues]
  if (start === undefined) return {}
  const layer: Middleware = {
    name: 'handoff:continues',
    async turn(ctx, next) {
      await next()
      const { agent, waiting } = handoffIn(ctx.state) ?? {}
      if (waiting === true && agent !== ctx.agent.name) await start(continuation)
    },
  }
  return { use: [...use, layer] }
}

function notInGroup(from: string, to: string): AlliumError {
  return new AlliumError(
    'layer.config',
    `The agent "${from}" handed off to "${to}", which is not in the group. Add it: agentGroup([${from}, ${to}]).`,
  )
}

function handoffIn(state: unknown): Handoff | null | undefined {
  return (state as Record<string, Handoff | null | undefined>)[handoffKey]
}

function isStored(agent: GroupAgent): boolean {
  return agent.inspect().layers.some(({ order }) => order.is?.includes('sessionStorage') === true)
}
