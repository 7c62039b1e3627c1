import type { AgentOptions, AnyMiddleware, AnyTool } from '@allium/core'
import type { ScriptedStep } from '../../step.ts'

/** The layer that the suite tests, and the agents and sessions that it is tested in. */
export interface LayerUnderTest {
  /** The layer, or a factory that creates one for each agent of the suite; required if the layer keeps data in a closure. */
  layer: AnyMiddleware | (() => AnyMiddleware)
  /** The config for `.use(layer, config)`. */
  config?: unknown | undefined
  /** A run in which the layer does its work. @default a tool call, then an answer */
  steps?: readonly ScriptedStep[] | undefined
  /** Tools in addition to "work", which the suite's own scripts call. */
  tools?: readonly AnyTool[] | undefined
  /** The principal of all sessions; the suite adds its tenant as `tenantId` and `tenant`. @default { userId: 'ada' } */
  principal?: object | undefined
  context?: unknown | undefined
  /** Additional options of the agents, such as instructions. The suite sets the clock. */
  agentOptions?: Omit<Partial<AgentOptions>, 'model' | 'clock'> | undefined
  /** Fails if `order` is missing; otherwise that is a warning. @default false */
  strict?: boolean | undefined
  /** Receives warnings. @default console.warn */
  warn?(message: string): void
}

/** Returns the layer under test; a new one if the suite has a factory. */
export function makeLayer({ layer }: Pick<LayerUnderTest, 'layer'>): AnyMiddleware {
  return typeof layer === 'function' ? layer() : layer
}
