import type { AgentEvents } from '../events/events.ts'
import type { Capability } from '../ports/capability.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { AnyTool } from '../tool/tool.ts'

/** What every context has. Contexts of inner scopes have it too. */
export interface AgentView<Config = unknown> {
  readonly agent: {
    readonly name: string
    readonly model: string
    readonly instructions: string | undefined
    /** The names that its sessions may be stored under: first the name for new sessions, then earlier names. */
    readonly sessionNames: readonly string[]
  }
  /** This layer's configuration, as passed to `.use(layer, config)`. */
  readonly config: Config
  /**
   * A record for arbitrary data in this scope. There is one per turn, shared by its model and tool calls. Session and
   * agent have their own.
   */
  readonly metadata: Record<string, unknown>
  /** The agent's clock. Layers that wait or measure use it, so that tests can control the time. */
  readonly clock: Clock
  readonly logger: Logger
  /** Subscribes to the agent's events, like `agent.on()`, until the scope ends: the agent, the session, or the turn of a model or tool call. */
  on<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): void
  /** Provides a capability to this scope and all inside it. */
  provide<T>(capability: Capability<T>, value: T): void
  /** Returns the capability, or undefined if it is not provided. `inject(ctx, capability)` throws instead. */
  find<T>(capability: Capability<T>): T | undefined
}

/** Agent scope: from init() to dispose(). */
export interface AgentContext<Config = unknown> extends AgentView<Config> {
  /** Adds a tool to the agent. Call it before next(). */
  registerTool(tool: AnyTool): void
}
