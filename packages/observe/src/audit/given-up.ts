import type { Clock, SessionKey } from '@allium/core'

/** A durable run that failed outside its turn, so that no layer saw its end. */
export interface GivenUpRun {
  readonly key: SessionKey
  readonly turnId: string
  readonly agent: string
  readonly code: string
  /** May quote anything. */
  readonly reason: string
  /** Differs after each retry of the run, and is otherwise the same in all processes that report this end. */
  readonly queuedAt: number
  readonly clock: Clock
}

type RecordEnd = (run: GivenUpRun) => Promise<void>

/** The key of a layer's options under which it takes the ends of runs that were given up. `JSON` and digests skip it. */
const recordEnd = Symbol.for('allium.audit.recordEnd')

/** Returns the options of a layer that records the ends of runs that were given up. */
export function recordsEnds(record: RecordEnd): Readonly<Record<string, unknown>> {
  return { [recordEnd]: record }
}

/**
 * Records the end of a run that was given up in the chain of each `observe.audit` of its agent. Rejects if a sink fails.
 *
 * @param layers from `agent.inspect()`
 */
export async function recordGivenUp(
  layers: readonly { readonly options: Readonly<Record<PropertyKey, unknown>> }[],
  run: GivenUpRun,
): Promise<void> {
  await Promise.all(layers.map(({ options }) => (options[recordEnd] as RecordEnd | undefined)?.(run)))
}
