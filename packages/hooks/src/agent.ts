import {
  Agent,
  type AgentOptions,
  type AnyTool,
  type Instructions,
  type ModelRef,
  type Settings,
  type Tool,
} from '@allium/core'
import { type LifecycleInput, read } from './from.ts'
import { hostOf } from './layer.ts'
import { classNameOf } from './name.ts'

/** An agent as a class. Missing members are taken from the options. */
export interface IAgent<TContext = unknown> {
  getMiddlewares?(): readonly LifecycleInput<TContext>[]
  /** @default the name of the class */
  getName?(): string
  getModel?(): ModelRef
  getInstructions?(): Instructions
  getTools?(): readonly AnyTool[]
  getSettings?(): Settings
}
export type AgentClass<TContext = unknown> = new () => IAgent<TContext>

type Schema = Tool['schema']

/** Returns `hooks.agent` for another `Agent` class than core's. */
export function agentOf(Base: typeof Agent) {
  /**
   * Creates an agent from a class or an object with `getMiddlewares()`. Hooks that are added to it later, or passed to one run, join
   * its own chain at the end.
   *
   * @param options override the class
   * @throws AlliumError `agent.options` when neither has a model
   *
   * @example
   * class Support { getModel() { return 'anthropic/claude-sonnet-4-6' } getMiddlewares() { return [Audit, new Limits(3)] } }
   * const agent = hooks.agent(Support)
   */
  return function createAgent<C extends Schema = undefined, P extends Schema = undefined>(
    definitionOrClass: IAgent | AgentClass,
    options: Partial<AgentOptions<C, P>> = {},
  ): Agent<{}, C, P> {
    const definition = typeof definitionOrClass === 'function' ? new definitionOrClass() : definitionOrClass
    const name = definition.getName?.() ?? classNameOf(definition)
    const declaredOptions = {
      ...(name !== undefined && { name }),
      model: definition.getModel?.(),
      instructions: definition.getInstructions?.(),
      tools: definition.getTools?.(),
      settings: definition.getSettings?.(),
    }
    const ownMiddlewares = read(definition.getMiddlewares?.() ?? [], undefined)
    const instance = new Base<{}, C, P>({ ...declaredOptions, ...options } as AgentOptions<C, P>)
    return instance.use(hostOf('hooks', ownMiddlewares.chain))
  }
}

/** See {@link agentOf}: creates an agent from a class with `getMiddlewares()`. */
export const agent = agentOf(Agent)
