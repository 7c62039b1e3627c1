import type { Session } from '@allium/core'
import type { InspectedAgent } from '@allium/store/code-shape'

/** An agent as `new Agent()` creates it, with any state, context, principal and tools. */
export interface RestateAgent extends InspectedAgent {
  readonly name: string
  readonly sessionNames: readonly string[]
  init(): Promise<void>
  session(options?: { id?: string; principal?: never }): Session<unknown, unknown>
}
