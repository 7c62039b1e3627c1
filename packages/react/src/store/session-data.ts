import type { ChatError } from './chat-error.ts'
import type { ChatState, ChatStatus } from './chat-state.ts'
import type { SentDecisions } from './decisions.ts'
import type { Outbox, OutboxItem } from './outbox.ts'
import { snapshotOf } from './snapshot.ts'
import { Transcript } from './transcript.ts'

/** The mutable data of a session, and the snapshots of it that listeners receive. */
export class SessionData {
  readonly transcript = new Transcript()
  readonly outbox: Outbox
  decisions: readonly SentDecisions[] = []
  status: ChatStatus = 'loading'
  error: ChatError | undefined
  /** Queued inputs wait for `retry()` or the next input. */
  isHeld = false
  /** The stored input of a run that failed. */
  failedItem: OutboxItem | undefined
  readonly #throttle: number
  readonly #notify: (state: ChatState) => void
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(outbox: Outbox, throttle: number, notify: (state: ChatState) => void) {
    this.outbox = outbox
    this.#throttle = throttle
    this.#notify = notify
  }

  set({ status }: { status: ChatStatus }): void {
    this.status = status
    this.publish()
  }

  fail(error: ChatError): void {
    this.isHeld = true
    this.error = error
    this.transcript.fail()
    this.set({ status: 'failed' })
  }

  removeDecisions({ key }: SentDecisions): void {
    this.decisions = this.decisions.filter((sent) => sent.key !== key)
  }

  snapshot(): ChatState {
    return snapshotOf(this)
  }

  publish(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#notify(this.snapshot())
  }

  /** Joins the many changes of a stream into one snapshot. */
  publishSoon(): void {
    this.#timer ??= setTimeout(() => this.publish(), this.#throttle)
  }
}
