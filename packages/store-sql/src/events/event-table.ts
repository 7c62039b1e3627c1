import type { Writer } from '@allium/core'
import type { EventScope, LatestRun, RunKey } from '@allium/store'
import type { BlobWrite } from '../blobs/blob-table.ts'

/** The events of one append, as bytes. */
export interface EventBatch {
  /** Chosen by the appender, so that the same batch is never appended twice. */
  readonly id: string
  readonly count: number
  readonly body: Uint8Array
}

/** A stored batch; `first` is the position of its first event. */
export interface StoredBatch extends EventBatch {
  readonly first: number
}

/** A signal to a run; `n` grows with each signal. A stop has no id and no body. */
export interface StoredSignal {
  readonly n: number
  readonly id: string | null
  readonly body: Uint8Array | null
}

/** The position of a run. */
export interface RunHead {
  /** The number of its last event. */
  readonly seq: number
  readonly ended: boolean
  /** The number of its last signal. */
  readonly lastSignal: number
  /** The number of its newest listener. */
  readonly listener: number
}

/** The position of the run after an append. A database that also returns the last signal and newest listener is queried less often. */
interface AppendedHead {
  readonly seq: number
  readonly lastSignal?: number
  readonly listener?: number
  /** The append has opened the run, and made this process its listener, so `listen` need not be called. */
  readonly opened?: boolean
}

export type AppendOutcome =
  | (AppendedHead & { readonly undelivered?: undefined; readonly fenced?: undefined })
  | { readonly undelivered: readonly StoredSignal[]; readonly fenced?: undefined }
  | { readonly fenced: 'ended' | 'taken' | 'gone' }

/**
 * The database operations of an event log. Each operation is atomic, includes its tenant, and can be repeated. An expired run
 * does not exist.
 */
export interface EventTable {
  /**
   * Opens the run if it does not exist, unless it must exist or its writer began before an erasure. Without a batch it appends nothing.
   * With `end` it returns the unhandled steers, and keeps them until they are acknowledged.
   *
   * @param options.request identifies the append. If it is sent again because its reply was lost, it appends nothing and returns the same
   * outcome
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
  /** Returns batches with events after a position, some at a time, in order. */
  batches(run: RunKey, after: number): Promise<StoredBatch[]>
  /** Returns the positions of runs, in the order of the keys. */
  heads(runs: readonly RunKey[]): Promise<(RunHead | undefined)[]>
  latest(key: RunKey['key']): Promise<LatestRun | undefined>
  /** Stores a signal unless it, or its id, was stored before. Returns false if the run has ended or does not exist. */
  addSignal(run: RunKey, id: string | null, body: Uint8Array | null): Promise<boolean>
  /** Makes the caller the listener and returns its number; undefined if the run does not exist. */
  listen(run: RunKey): Promise<number | undefined>
  /** Returns the stored signals after the signal n. */
  signals(run: RunKey, after: number): Promise<StoredSignal[]>
  /** Marks steers as handled by the process that ends the run. Returns false if another process has taken the run over. */
  acknowledgeAtEnd(run: RunKey, epoch: number, ns: readonly number[]): Promise<boolean>
  /** Deletes a signal if the listener is still the newest. */
  acknowledge(run: RunKey, listener: number, n: number): Promise<void>
  /** Deletes runs and all their data. */
  delete(scope: EventScope): Promise<void>
}
