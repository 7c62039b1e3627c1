import type { CustomEvent, StreamEvent } from '../events/events.ts'
import type { RunEvents } from '../rings/turn/turn-options.ts'
import { isContentKind } from '../stream/chunk-kinds.ts'

type Event = StreamEvent | CustomEvent
type Result = IteratorResult<Event, undefined>

/**
 * The events of a run until somebody takes them. While nobody reads, the run flows and adjacent text is merged; once
 * somebody does, a chunk that waits unread asks the provider to wait as well. Other events never wait.
 */
export class EventQueue implements RunEvents {
  #events: Event[] = []
  #merged: Event | undefined
  #reading = false
  #flowing = false
  #closed = false
  #end: { error?: unknown } | undefined
  #take: { resolve(result: Result): void; reject(error: unknown): void } | undefined
  #room: { promise: Promise<void>; free(): void } | undefined

  push(event: Event): void | Promise<void> {
    if (this.#closed || this.#end !== undefined) return
    const take = this.#take
    if (take !== undefined) {
      this.#take = undefined
      take.resolve({ value: event, done: false })
      return
    }
    if (!this.#reading && this.#merge(event)) return
    this.#events.push(event)
    if (this.#reading && !this.#flowing && isContentKind(event.type)) return this.#wait()
  }

  /** No more events. With an error, the reader gets it after the last one. */
  finish(end: { error?: unknown }): void {
    this.#end = end
    const take = this.#take
    this.#take = undefined
    if (take === undefined) return
    if ('error' in end) take.reject(end.error)
    else take.resolve(over)
  }

  /** Lifts the waiting for the reader. */
  flow(): void {
    this.#flowing = true
    this.#free()
  }

  /** The reader has left: what comes is dropped. */
  close(): void {
    this.#closed = true
    this.#events = []
    this.#free()
  }

  next(): Promise<Result> {
    this.#reading = true
    this.#merged = undefined
    const event = this.#events.shift()
    if (this.#events.length === 0) this.#free()
    if (event !== undefined) return Promise.resolve({ value: event, done: false })
    if (this.#closed || this.#end !== undefined) return this.#atEnd()
    return new Promise((resolve, reject) => (this.#take = { resolve, reject }))
  }

  #atEnd(): Promise<Result> {
    const end = this.#end ?? {}
    this.#end = {}
    return 'error' in end && !this.#closed ? Promise.reject(end.error) : Promise.resolve(over)
  }

  #merge(event: Event): boolean {
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') {
      this.#merged = undefined
      return false
    }
    const last = this.#events.at(-1)
    const { delta, id, providerMetadata } = event as { delta: string; id?: string; providerMetadata?: object }
    if (
      last?.type !== event.type ||
      last.id !== id ||
      providerMetadata !== undefined ||
      last.providerMetadata !== undefined
    )
      return false
    if (last !== this.#merged) this.#events[this.#events.length - 1] = this.#merged = { ...last } as Event
    const merged = this.#merged as { delta: string }
    merged.delta += delta
    return true
  }

  #wait(): Promise<void> {
    if (this.#room === undefined) {
      let free = () => {}
      const promise = new Promise<void>((resolve) => (free = resolve))
      this.#room = { promise, free }
    }
    return this.#room.promise
  }

  #free(): void {
    const room = this.#room
    this.#room = undefined
    room?.free()
  }
}

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }
