import type { AgentEvents } from '../../events/events.ts'
import { modelId } from '../../model/model.ts'
import { Attempt } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Capabilities, Capability } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { AnyTool } from '../../tool/tool.ts'
import type { AgentScope } from './agent-scope.ts'

/** Agent scope: from init() to dispose(). */
export interface AgentContext<Config = unknown> {
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
  /** Subscribes to the agent's events, like `agent.on()`. */
  on<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): void
  /** Adds a tool to the agent. In agent hooks only, before next(). */
  registerTool(tool: AnyTool): void
  /** Provides a capability to this scope and all inside it. */
  provide<T>(capability: Capability<T>, value: T): void
  /** @throws AlliumError `capability.missing` */
  inject<T>(capability: Capability<T>): T
  /** Returns the capability, or undefined if it is not provided. For capabilities that are optional. */
  find<T>(capability: Capability<T>): T | undefined
}

/** An attempt of the agent scope, and the context of its layer. Each field is an accessor on the record of its scope. */
export class AgentAttempt extends Attempt implements AgentContext {
  /** The record of the agent. */
  get $agent(): AgentScope {
    return (this.$call as unknown as { home: AgentScope }).home
  }

  get agent(): AgentContext['agent'] {
    const { setup, sessionNames } = this.$agent
    const { name, model, instructions } = setup
    const text = typeof instructions === 'string' ? instructions : undefined
    return { name, model: modelId(model), instructions: text, sessionNames }
  }
  get config(): unknown {
    return this.$hook?.config
  }
  get metadata(): Record<string, unknown> {
    return this.$agent.metadata
  }
  get clock(): Clock {
    return this.$agent.setup.clock
  }
  get logger(): Logger {
    return this.$agent.setup.logger
  }
  on(name: string, listener: (event: never) => unknown): void {
    this.$agent.observers.on(name, listener)
  }
  registerTool(tool: AnyTool): void {
    this.$checkOpening()
    if (!this.$agent.opening)
      throw layerError(
        this,
        'tool.invalid',
        `registered the tool "${tool.name}" too late. Register tools in an agent hook before next().`,
      )
    this.$agent.tools.add(tool)
  }
  provide<T>(capability: Capability<T>, value: T): void {
    this.$checkOpening()
    this.$capabilities.provide(capability, value)
  }
  inject<T>(capability: Capability<T>): T {
    return this.$capabilities.inject(capability)
  }
  find<T>(capability: Capability<T>): T | undefined {
    return this.$capabilities.find(capability)
  }
  /**
   * @throws AlliumError `layer.abandoned` in a layer whose agent or session opening was abandoned, because another one may
   * be open by now
   */
  $checkOpening(): void {
    const { end, ring } = this.$call
    if (end !== undefined && (ring.scope === 'agent' || ring.scope === 'session'))
      throw layerError(this, 'layer.abandoned', 'went on after its opening was aborted. Clean up, and leave.')
  }
  get $capabilities(): Capabilities {
    return this.$agent.capabilities
  }
}
