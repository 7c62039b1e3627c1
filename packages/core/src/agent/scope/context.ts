import type { AgentContext } from '../../contexts/agent.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { modelId } from '../../model/model.ts'
import { Attempt, type Call, type Ring } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Capabilities, Capability } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { AnyTool } from '../../tool/tool.ts'
import type { AgentScope } from './agent-scope.ts'

/** A call through the layers of an agent, in any of its scopes. */
export interface AgentCall extends Call {
  readonly ring: Ring<AgentAttempt, AgentCall>
  /** The record that its layers belong to. */
  readonly home: { readonly agent: AgentScope; readonly clock: Clock }
}

/** An attempt of the agent scope, and the context of its layer. Each field is an accessor on the record of its scope. */
export class AgentAttempt<C extends AgentCall = AgentCall> extends Attempt<C> implements AgentContext {
  /** The record of the agent. */
  get $agent(): AgentScope {
    return this.$call.home.agent
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
    return this.$call.home.clock
  }
  get logger(): Logger {
    return this.$agent.setup.logger
  }
  on(name: string, listener: (event: never) => unknown): void {
    this.$agent.observers.on(name, listener, this.$call.home)
  }
  registerTool(tool: AnyTool): void {
    this.$checkOpening()
    if (!this.$agent.opening)
      throw layerError(this, 'tool.invalid', `registered "${tool.name}" late. Do it in agent(), before next().`)
    this.$agent.tools.add(tool)
  }
  provide<T>(capability: Capability<T>, value: T): void {
    this.$checkOpening()
    this.$capabilities.provide(capability, value)
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
      throw layerError(this, 'layer.abandoned', 'continued after its opening was aborted. Clean up and return.')
  }
  get $capabilities(): Capabilities {
    return this.$agent.capabilities
  }
}

/** The key under which a layer that wraps another one keeps the attempt behind a context that hides it. */
export const attemptKey = Symbol('allium.attempt')

/** Returns the attempt of a context. Undefined if it is not the context of such a scope or of one inside it. */
export function attemptOf<A extends AgentAttempt>(
  ctx: object,
  scope: abstract new (...args: never[]) => A,
): A | undefined {
  const attempt = (ctx as { [attemptKey]?: object } | undefined)?.[attemptKey] ?? ctx
  return attempt instanceof scope ? attempt : undefined
}

/**
 * Returns the attempt of a context, for a function that takes one.
 *
 * @throws AlliumError `layer.invalid` if it is not the context of such a scope or of one inside it
 */
export function layerOf<A extends AgentAttempt>(
  by: string,
  ctx: object,
  scope: abstract new (...args: never[]) => A,
): A {
  const found = attemptOf(ctx, scope)
  if (found !== undefined) return found
  throw new AlliumError(
    'layer.invalid',
    `${by} takes the ctx of a hook in its scope, or of execute(args, ctx), not ${describe(ctx)}.`,
  )
}
