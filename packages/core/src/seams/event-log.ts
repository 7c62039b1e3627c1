import type { Message } from '../messages/message.ts'
import type { SessionKey } from './session-store.ts'
import type { Writer } from './writer.ts'

/** A run of a session. A run id of another session names nothing. */
export interface RunKey {
  readonly key: SessionKey
  readonly turnId: string
}

/** An event of a run in its place. */
export interface LoggedEvent {
  /** It grows from event to event of a run, from 1 on, and is the same for every reader, also later and elsewhere. */
  readonly seq: number
  /** As it was appended: what `toJson` takes. */
  readonly event: unknown
}

/** A reader's way through the events of a run. */
export interface EventReader extends AsyncIterableIterator<LoggedEvent, undefined> {
  /**
   * The next event, where nobody has to wait for it; undefined where `next()` is to be asked. Who takes what has come together
   * pays for one wait.
   */
  take?(): LoggedEvent | undefined
}

/** What another process asks of a run: to stop, or to hear a message. The id names the message, however often it is sent. */
export type RunSignal =
  | { readonly stop: true; readonly steer?: undefined; readonly id?: undefined }
  | { readonly steer: Message['content']; readonly id: string; readonly stop?: undefined }

/** Where the log stands after the events; or the steers that nobody has heard, and nothing was appended. */
export type Logged = { seq: number; unheard?: undefined } | { unheard: RunSignal[]; seq?: undefined }

/** What is deleted: one session, all of an owner, or all of a tenant. */
export type EventScope = SessionKey | { readonly tenant: string; readonly owner?: string | undefined }

/** The run of a session that was opened last. */
export interface LatestRun {
  readonly turnId: string
  /** Of its last event; 0 before the first. */
  readonly seq: number
  readonly ended: boolean
}

/**
 * The events of runs while they go on and for a while after, for readers in any process who come, leave and come back; and
 * the way by which others reach a run. Every operation is atomic. Implementations pass `eventLogConformance` of
 * `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface EventLog {
  /**
   * Appends events of a run, all or none; also none at all, which opens the run. Readers hold it up in no case.
   *
   * With `end` the run ends: its readers come to their end, signals are taken no more, and the log forgets it after
   * `eventTtl`. While steers wait that nobody has heard it does not end: they are given instead, and are kept no longer. Append
   * what became of them, and end it again.
   *
   * @param epoch of who runs it, such as the token of a lease: it grows with each process that takes the run over, and a newer one
   * goes on also where the run had ended
   * @param options.mustExist refuses the events instead of opening the run. A process passes it for every append after its first, so that
   * a run that was deleted meanwhile stays deleted
   * @param options.by whose run it is, for the append that opens it
   * @throws AlliumError `store.fenced` where a newer epoch has appended, the run has ended in this one, it must exist and does not, or its
   * owner was erased since it began; `state.invalid` where an event cannot be kept
   */
  append(
    run: RunKey,
    epoch: number,
    events: readonly unknown[],
    options?: { end?: boolean; mustExist?: boolean; by?: Writer },
  ): Promise<Logged>
  /**
   * The events of a run behind a place, then those that come, until the run ends, the signal aborts or the reader leaves. A run
   * that nobody has opened, or that is forgotten, has none, and that at once.
   *
   * @param after the `seq` of the last event that the reader has; 0 for none
   */
  read(run: RunKey, after: number, signal?: AbortSignal): EventReader
  /** The run of a session that was opened last, until it is forgotten. */
  latest(key: SessionKey): Promise<LatestRun | undefined>
  /**
   * Asks something of a run. It is kept until the run's listener has dealt with it, over processes.
   *
   * @returns false where the run has ended, or was never opened: nobody will hear it
   */
  signal(run: RunKey, signal: RunSignal): Promise<boolean>
  /**
   * Listens for what is asked of a run, from its beginning on, in order; the next does not wait for `fn`. What `fn` has returned
   * from, or its promise was kept, is dealt with: heard, or given back. What it throws at is kept for the next listener. A
   * run has one listener, the newest: what the one before has not dealt with is told to it.
   *
   * @returns what stops listening
   * @throws AlliumError `store.fenced` where nobody has opened the run: append to it first
   */
  onSignal(run: RunKey, fn: (signal: RunSignal) => void | Promise<void>): Promise<() => void>
  /**
   * Deletes the runs of a session, an owner or a tenant, also those that have not ended. Their readers come to their end in every process,
   * and what their processes still append with `mustExist` is refused.
   */
  delete(of: EventScope): Promise<void>
}
