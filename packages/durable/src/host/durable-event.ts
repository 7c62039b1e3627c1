import type { DurableRun, EndedStatus } from '@allium/store'

interface OfRun extends Pick<DurableRun, 'run' | 'agent' | 'version'> {
  readonly tenant: string
}

/** A claim, an end or a deletion of durable runs in this process, for metrics. It has no content. */
export type DurableEvent =
  /** This process executes a run. `takeover`: another process was lost. `attempt` counts the starts since the last recorded step. */
  | (OfRun & { readonly type: 'claim'; readonly attempt: number; readonly takeover: boolean })
  /** A run has ended here. `givenUp`: it failed without a turn and keeps its steps for a retry. */
  | (OfRun & {
      readonly type: 'end'
      readonly status: EndedStatus
      readonly code?: string
      readonly givenUp: boolean
    })
  /** This process deleted runs after their retention. */
  | { readonly type: 'expire'; readonly status: EndedStatus; readonly count: number }

export function ofRun({ run, key, agent, version }: DurableRun): OfRun {
  return { run, tenant: key.tenant, agent, version }
}
