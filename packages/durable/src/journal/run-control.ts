import type { AlliumError } from '@allium/core'

/** What the code inside of a durable run may do with the run. */
export interface RunControl {
  /** The recorded steps do not fit the code: the run is given up and keeps them. */
  onDiverged(error: AlliumError): Promise<void>
  /** Whether the run only waits, so that it can be handed over now. */
  isIdle: (() => boolean) | undefined
  /** Called when it begins to only wait. */
  onIdle(): void
}

/** The durable runs that this process executes, by their ids, which are those of their turns. */
export const controls = new Map<string, RunControl>()
