import type { Decision, Input, PendingCall, Session, Snapshot } from '@allium/core'
import { continuation, type Handoff } from '../handoff.ts'
import type { GroupAgent, GroupSessionOptions } from './agent-group.ts'
import { GroupRun, type GroupRunOptions, type StartedTurn } from './group-run.ts'
import { handoffKey, handoffReason } from './targets.ts'

/** A session of a group of agents. One turn at a time. */
export class GroupSession {
  readonly id: string
  readonly #agents: ReadonlyMap<string, GroupAgent>
  readonly #options: GroupSessionOptions
  #agent: GroupAgent
  #session: Session<unknown, unknown> | undefined
  #isOpen = false

  /** Use `agentGroup([…]).session()` instead. */
  constructor(agents: ReadonlyMap<string, GroupAgent>, options: GroupSessionOptions) {
    this.#agents = agents
    this.id = options.id ?? crypto.randomUUID()
    this.#options = { ...options, id: this.id }
    this.#agent = [...agents.values()][0] as GroupAgent
  }

  /** The name of the agent that the next turn runs on. A stored session knows it after `open()` or its first run. */
  get agent(): string {
    return this.#agent.name
  }

  /** The pending calls, which the agent that suspended them decides. */
  get pending(): readonly PendingCall[] {
    return this.#current().pending
  }

  /** Finds the current agent of a stored session. The first run does this automatically. */
  async open(): Promise<void> {
    if (this.#isOpen) return
    await this.#current().open()
    await this.#follow()
    this.#isOpen = true
  }

  /** Runs a turn on the current agent, and a further one after each handoff. Its result is that of the last turn. */
  run(input: Input, options: GroupRunOptions = {}): GroupRun {
    return this.#start(
      (session, signal) => ({ turn: session.run(input, { ...options, signal }) as StartedTurn['turn'] }),
      options,
    )
  }

  /** Decides pending calls on the agent that suspended them, and follows its handoffs. */
  resume(decisions: Readonly<Record<string, Decision>>, options: GroupRunOptions = {}): GroupRun {
    return this.#start(
      (session, signal) => ({ turn: session.resume(decisions, { ...options, signal }) as StartedTurn['turn'] }),
      options,
    )
  }

  /** Closes the session. */
  async close(): Promise<void> {
    await this.#session?.close()
  }

  #start(
    begin: (session: Session<unknown, unknown>, signal: AbortSignal) => StartedTurn,
    options: GroupRunOptions,
  ): GroupRun {
    // The key names the run of the input.
    const { idempotencyKey: _, ...rest } = options
    return new GroupRun(options.signal, {
      begin: async (signal) => {
        await this.open()
        return begin(this.#current(), signal)
      },
      next: async ({ status, reason }, signal) => {
        const handsOff = status === 'stopped' && reason === handoffReason
        await this.#follow()
        const { agent, waiting } = this.#handoff() ?? {}
        if (!handsOff || waiting !== true || agent !== this.agent) return undefined
        return { turn: this.#current().run(continuation, { ...rest, signal }) as StartedTurn['turn'] }
      },
    })
  }

  #current(): Session<unknown, unknown> {
    this.#session ??= this.#agent.session(this.#options as never)
    return this.#session
  }

  #handoff(): Handoff | null | undefined {
    return (this.#current().state as Record<string, Handoff | null>)[handoffKey]
  }

  /** Continues on the agent that suspended a call, or that the session was handed off to. */
  async #follow(): Promise<void> {
    const before = this.#current()
    const snapshot = before.snapshot()
    const agent = this.#agents.get(agentOf(snapshot) ?? '') ?? this.#agent
    if (agent === this.#agent) return
    await before.close()
    this.#agent = agent
    this.#session = undefined
    if (isStored(agent)) await this.#current().open()
    else this.#current().restore(snapshot)
  }
}

function agentOf({ suspension, state }: Snapshot): string | undefined {
  const [call] = Object.values(suspension?.calls ?? {})
  return call?.agent ?? (state[handoffKey] as Handoff | null | undefined)?.agent
}

function isStored(agent: GroupAgent): boolean {
  return agent.inspect().layers.some(({ order }) => order.is?.includes('sessionStorage') === true)
}
