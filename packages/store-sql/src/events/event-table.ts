import type { EventScope, LatestRun, RunKey, Writer } from '@allium/core'
import type { BlobWrite } from '../blobs/blob-table.ts'

/** The events of one append, as bytes. */
export interface EventBatch {
  /** Named by who appends, so that the same batch is never appended twice. */
  readonly id: string
  readonly count: number
  readonly body: Uint8Array
}

/** A batch in its place: its events are those from `first` on. */
export interface StoredBatch extends EventBatch {
  readonly first: number
}

/** What was asked of a run; `n` grows from signal to signal. A stop has no id, and no body. */
export interface StoredSignal {
  readonly n: number
  readonly id: string | null
  readonly body: Uint8Array | null
}

/** Where a run stands. */
export interface RunHead {
  /** Of its last event. */
  readonly seq: number
  readonly ended: boolean
  /** Of its last signal. */
  readonly lastSignal: number
  /** Of its newest listener. */
  readonly listener: number
}

/** Where an append has left the run. A database that tells its last signal and newest listener as well is asked less. */
interface AppendedHead {
  readonly seq: number
  readonly lastSignal?: number
  readonly listener?: number
}

export type AppendOutcome =
  | (AppendedHead & { readonly undelivered?: undefined; readonly fenced?: undefined })
  | { readonly undelivered: readonly StoredSignal[]; readonly fenced?: undefined }
  | { readonly fenced: 'ended' | 'taken' | 'gone' }

/**
 * What a database does of an event log. Each operation is atomic, names its tenant, and may be repeated. A run whose time is
 * over is not there.
 */
export interface EventTable {
  /**
   * Opens the run where it is not there, unless it must exist, or its writer began before an erasure. Without a batch nothing is appended.
   * With `end` it gives the steers that nobody has dealt with, and keeps them until `take`.
   *
   * @param options.request names the append: sent again, because its reply was lost, it appends nothing and gives the same outcome
   * @param options.write the blobs of the batch. The run holds them once the batch is appended
   */
  append(
    run: RunKey,
    epoch: number,
    batch: EventBatch | undefined,
    options: {
      readonly end: boolean
      readonly mustExist: boolean
      readonly request: string
      readonly by?: Writer | undefined
      readonly write?: BlobWrite | undefined
    },
  ): Promise<AppendOutcome>
  /** Batches with events behind a place, some at a time, in their order. */
  batches(run: RunKey, after: number): Promise<StoredBatch[]>
  /** Where runs stand, in the order of the keys. */
  heads(runs: readonly RunKey[]): Promise<(RunHead | undefined)[]>
  latest(key: RunKey['key']): Promise<LatestRun | undefined>
  /** Keeps a signal, unless it is kept, or its id was; false where the run has ended or is not there. */
  addSignal(run: RunKey, id: string | null, body: Uint8Array | null): Promise<boolean>
  /** Makes who asks the listener; gives its number, undefined where the run is not there. */
  listen(run: RunKey): Promise<number | undefined>
  /** What is kept and was asked after the signal n. */
  signals(run: RunKey, after: number): Promise<StoredSignal[]>
  /** Marks steers as dealt with for the process that ends the run; false when another process has taken the run over. */
  acknowledgeAtEnd(run: RunKey, epoch: number, ns: readonly number[]): Promise<boolean>
  /** Forgets a signal, if the listener is still the newest. */
  acknowledge(run: RunKey, listener: number, n: number): Promise<void>
  /** Deletes runs with all that belongs to them. */
  delete(scope: EventScope): Promise<void>
}
