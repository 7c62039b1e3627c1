import { EventEmitter } from 'eventemitter3'
import { isThenable } from '../errors/thenable.ts'

type Listener = (event: never) => unknown
type Wrapped = (event: unknown) => void

/**
 * Observers beside the path. What one throws, at once or later, goes to `observer:error` and nowhere else; nobody waits for it.
 */
export class Observers {
  readonly #emitter = new EventEmitter()
  readonly #wrapped = new Map<string, Map<Listener, Wrapped>>()
  /** What stands in the place of a listener that is to hear one event. */
  readonly #once = new Map<string, Map<Listener, Listener>>()

  on(name: string, listener: Listener): void {
    const wrapped = (event: unknown) => this.#call(name, listener, event)
    let ofName = this.#wrapped.get(name)
    if (ofName === undefined) this.#wrapped.set(name, (ofName = new Map()))
    if (ofName.has(listener)) return
    ofName.set(listener, wrapped)
    this.#emitter.on(name, wrapped)
  }

  once(name: string, listener: Listener): void {
    const first = (event: never) => {
      this.#forget(name, first)
      this.#ofOnce(name).delete(listener)
      return listener(event)
    }
    if (this.#ofOnce(name).has(listener)) return
    this.#ofOnce(name).set(listener, first)
    this.on(name, first)
  }

  /** Whichever way it was added. */
  off(name: string, listener: Listener): void {
    this.#forget(name, listener)
    const first = this.#once.get(name)?.get(listener)
    if (first === undefined) return
    this.#once.get(name)?.delete(listener)
    this.#forget(name, first)
  }

  /** Whether an event object is worth building. */
  has(name: string): boolean {
    const listeners = this.#wrapped.get(name)
    return listeners !== undefined && listeners.size > 0
  }

  /** The event goes to each observer as it is; senders give an object of its own. */
  emit(name: string, event: object): void {
    this.#emitter.emit(name, event)
  }

  #forget(name: string, listener: Listener): void {
    const wrapped = this.#wrapped.get(name)?.get(listener)
    if (wrapped === undefined) return
    this.#wrapped.get(name)?.delete(listener)
    this.#emitter.off(name, wrapped)
  }

  #ofOnce(name: string): Map<Listener, Listener> {
    let ofName = this.#once.get(name)
    if (ofName === undefined) this.#once.set(name, (ofName = new Map()))
    return ofName
  }

  #call(name: string, listener: Listener, event: unknown): void {
    try {
      const result = listener(event as never)
      if (isThenable(result)) result.then(undefined, (error) => this.#failed(name, error))
    } catch (error) {
      this.#failed(name, error)
    }
  }

  #failed(name: string, error: unknown): void {
    if (name !== 'observer:error') this.emit('observer:error', { type: 'observer:error', event: name, error })
  }
}
