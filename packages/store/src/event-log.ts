import type { Message, SessionKey, Writer } from '@allium/core'
/** A run of a session. The same run id in another session is another run. */
export interface RunKey {
  readonly key: SessionKey
  readonly turnId: string
}

/** An event of a run, with its position. */
export interface LoggedEvent {
  /** Starts at 1 and grows with each event of the run. Every reader in every process sees the same number. */
  readonly seq: number
  /** The event as it was appended: any value that `toJson` takes. */
  readonly event: unknown
}

/** Iterates over the events of a run. */
export interface EventReader extends AsyncIterableIterator<LoggedEvent, undefined> {
  /**
   * Returns the next event if one is ready, or undefined if the reader must call `next()`. Taking a batch of ready events this way
   * costs a single wait.
   */
  take?(): LoggedEvent | undefined
}

/** A request from another process to a run: stop, or deliver a message. The id identifies the message, however often it is sent. */
export type RunSignal =
  | { readonly stop: true; readonly steer?: undefined; readonly id?: undefined }
  | { readonly steer: Message['content']; readonly id: string; readonly stop?: undefined }

/** The `seq` of the last event after an append; or the undelivered steers, in which case nothing was appended. */
export type Logged = { seq: number; undelivered?: undefined } | { undelivered: RunSignal[]; seq?: undefined }

/** The runs to delete: those of one session, an owner or a tenant. */
export type EventScope = SessionKey | { readonly tenant: string; readonly owner?: string | undefined }

/** The most recently opened run of a session. */
export interface LatestRun {
  readonly turnId: string
  /** The `seq` of its last event; 0 before the first. */
  readonly seq: number
  readonly ended: boolean
}

/**
 * The events of runs, during the run and for some time after it, for readers in any process that disconnect and come back.
 * Other processes also send their signals to a run through it. Every operation is atomic. Implementations pass
 * `eventLogConformance` of `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface EventLog {
  /**
   * Appends events of a run, all or none. An empty list opens the run. Slow readers never delay it.
   *
   * `end` ends the run: its readers finish, it takes no more signals, and the log forgets it after `eventRetention`. If there are
   * undelivered steers, the run does not end. Instead they are returned, and the log deletes them. Append the events of their
   * outcome, and end the run again.
   *
   * @param epoch identifies the process that runs it, such as the token of a lease. It grows with each takeover. A newer epoch may
   * append even if the run had ended
   * @param options.mustExist rejects the events instead of opening the run. A process passes it for every append after its first, so
   * that a run that was deleted meanwhile stays deleted
   * @param options.by the owner of the run, for the append that opens it
   * @throws AlliumError `store.fenced` if a newer epoch has appended, the run has ended in this one, it must exist and does not, or
   * its owner was erased since it began; `state.invalid` if an event cannot be serialized
   */
  append(
    run: RunKey,
    epoch: number,
    events: readonly unknown[],
    options?: { end?: boolean; mustExist?: boolean; by?: Writer },
  ): Promise<Logged>
  /**
   * Returns the events of a run after a position, then new ones, until the run ends, the signal aborts or the reader returns. A run
   * that was never opened, or is forgotten, ends at once without events.
   *
   * @param after the `seq` of the last event that the reader has; 0 for none
   */
  read(run: RunKey, after: number, signal?: AbortSignal): EventReader
  /** Returns the most recently opened run of a session, until it is forgotten. */
  latest(key: SessionKey): Promise<LatestRun | undefined>
  /**
   * Sends a signal to a run. The log stores it, across processes, until the run's listener has handled it.
   *
   * @returns false if the run has ended or was never opened, so that the signal is not delivered
   */
  signal(run: RunKey, signal: RunSignal): Promise<boolean>
  /**
   * Calls `fn` for each signal of a run since its start, in order, without waiting for the previous call. A signal is handled when
   * `fn` returns or its promise resolves. If `fn` throws, the log keeps the signal for the next listener. Only the newest
   * listener of a run is active, and it also gets the signals that the previous one has not handled.
   *
   * @returns a function that stops listening
   * @throws AlliumError `store.fenced` if the run was never opened: append to it first
   */
  onSignal(run: RunKey, fn: (signal: RunSignal) => void | Promise<void>): Promise<() => void>
  /**
   * Deletes the runs of a session, an owner or a tenant, even active ones. Their readers finish in every process. Later appends
   * with `mustExist` are rejected.
   */
  delete(of: EventScope): Promise<void>
}
