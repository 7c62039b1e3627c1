import type { CustomEvent, StreamEvent } from '../events/events.ts'
import { add, continues, joinable, ownCopy } from '../messages/join-deltas.ts'
import type { Clock } from '../ports/clock.ts'
import { contentKinds } from './transforms.ts'

/** Receives the events of a run. A returned promise tells the provider to wait for the reader. */
export interface RunEvents {
  push(event: StreamEvent | CustomEvent): void | Promise<void>
  /** Stops backpressure: the provider no longer waits for the reader. */
  flow?(): void
}

type Event = StreamEvent | CustomEvent
type Result = IteratorResult<Event, undefined>

interface Taker {
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Buffers the events of a run for its reader. Without a reader, the run continues and adjacent text is merged. With a
 * reader, an unread chunk makes the provider wait. Other events never wait. A reader that leaves a chunk unread for
 * `silence` milliseconds counts as gone until its next read.
 */
export class EventQueue implements RunEvents {
  readonly #clock: Clock
  readonly #silence: number | false
  readonly #events: (Event | undefined)[] = []
  /** The index of the first unread event. */
  #head = 0
  #takers: Taker[] | undefined
  /** Whether a chunk of an answer has arrived. */
  begun = false
  #merged: Event | undefined
  #reading = false
  #flowing = false
  #closed = false
  #end: { error?: unknown } | undefined
  #room: { readonly promise: Promise<void>; readonly since: number; free(): void } | undefined
  /** One timer for all waits of a run, because most chunks wait only a few microtasks. */
  #disarm: (() => void) | undefined

  constructor(clock: Clock, silence: number | false) {
    this.#clock = clock
    this.#silence = silence
  }

  push(event: Event): void | Promise<void> {
    if (this.#closed || this.#end !== undefined) return
    this.begun ||= contentKinds.has(event.type)
    const taker = this.#takers?.shift()
    if (taker !== undefined) return taker.resolve({ value: event, done: false })
    const holds = this.#reading && !this.#flowing
    if (!holds && joinable.has(event.type) && this.#merge(event)) return
    this.#events.push(event)
    if (holds && contentKinds.has(event.type)) return this.#wait()
  }

  /** Ends the events. The reader gets the error, if there is one, after the last event. */
  finish(end: { error?: unknown }): void {
    this.#end = end
    this.#stopTimer()
    this.#dismiss()
  }

  /** Stops waiting for the reader. */
  flow(): void {
    this.#flowing = true
    this.#stopTimer()
    this.#free()
  }

  /** The reader has left. Drops all events. */
  close(): void {
    this.#closed = true
    this.#drop(this.#events.length)
    this.#stopTimer()
    this.#dismiss()
    this.#free()
  }

  next(): Promise<Result> {
    this.#reading = true
    this.#merged = undefined
    const event = this.#shift()
    if (this.#events.length === 0) this.#free()
    if (event !== undefined) return Promise.resolve({ value: event, done: false })
    if (this.#closed || this.#end !== undefined) return this.#atEnd()
    this.#takers ??= []
    const takers = this.#takers
    return new Promise((resolve, reject) => takers.push({ resolve, reject }))
  }

  /** Takes the first unread event, in constant time. `Array.shift()` moves all remaining items of a long array. */
  #shift(): Event | undefined {
    const events = this.#events
    // The common case is a reader that keeps up. `pop()` keeps the array's allocation.
    if (this.#head === 0 && events.length < 2) return events.pop()
    const event = events[this.#head]
    events[this.#head++] = undefined
    const unread = events.length - this.#head
    if (unread === 0 || (this.#head > 1000 && this.#head > unread)) this.#drop(this.#head)
    return event
  }

  /** Removes events that were read, or all of them. */
  #drop(count: number): void {
    this.#events.splice(0, count)
    this.#head = 0
  }

  #atEnd(): Promise<Result> {
    const end = this.#end ?? {}
    this.#end = {}
    return 'error' in end && !this.#closed ? Promise.reject(end.error) : Promise.resolve(over)
  }

  /** Ends the pending reads. */
  #dismiss(): void {
    for (const { resolve, reject } of this.#takers?.splice(0) ?? []) this.#atEnd().then(resolve, reject)
  }

  #merge(event: Event): boolean {
    const last = this.#events.at(-1)
    if (!continues(last, event)) return false
    if (last !== this.#merged) this.#events[this.#events.length - 1] = this.#merged = ownCopy(last)
    add(this.#merged as typeof last, event)
    return true
  }

  #wait(): Promise<void> {
    if (this.#room !== undefined) return this.#room.promise
    let free = () => {}
    const promise = new Promise<void>((resolve) => (free = resolve))
    this.#room = { promise, since: this.#silence === false ? 0 : this.#clock.monotonic(), free }
    if (this.#silence !== false) this.#disarm ??= this.#arm(this.#silence)
    return promise
  }

  #arm(ms: number): () => void {
    return this.#clock.after(ms, () => this.#ring(), { idle: true })
  }

  #ring(): void {
    this.#disarm = undefined
    if (this.#room === undefined || this.#silence === false) return
    const left = this.#room.since + this.#silence - this.#clock.monotonic()
    if (left > 0) this.#disarm = this.#arm(left)
    else {
      this.#reading = false
      this.#free()
    }
  }

  #stopTimer(): void {
    this.#disarm?.()
    this.#disarm = undefined
  }

  #free(): void {
    const room = this.#room
    this.#room = undefined
    room?.free()
  }
}

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }
