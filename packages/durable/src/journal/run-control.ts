import type { AlliumError } from '@allium/core'

/** What the code inside of a durable run may do with the run. */
export interface RunControl {
  /** The recorded steps do not fit the code: the run is given up and keeps them. */
  onDiverged(error: AlliumError): Promise<void>
  /** Whether the run only waits, so that it can be handed over now. */
  isIdle: () => boolean
  /** Called when it begins to only wait. */
  onIdle(): void
}

const controls = new Map<string, RunControl>()

/** Makes a run available to its code. Returns a function that ends it. */
export function allowControl(run: string, control: RunControl): () => void {
  controls.set(run, control)
  return () => {
    if (controls.get(run) === control) controls.delete(run)
  }
}

/** Returns the control of a durable run that this process executes. Other turns have none. */
export function controlOf(turnId: string): RunControl | undefined {
  return controls.get(turnId)
}
