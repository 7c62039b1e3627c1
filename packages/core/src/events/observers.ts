import { isThenable } from '../errors/thenable.ts'
import { jsonSafe } from '../messages/json-safe.ts'

type Listener = (event: never) => unknown

interface Observer {
  readonly listener: Listener
  /** The record of the session or turn that it ends with. */
  readonly scope: object | undefined
}

/** The scope of an observer that is called once. */
const once = {}

/** Observers never affect a run. Their errors and rejections only go to `observer:error`, and nothing waits for them. */
export class Observers {
  /**
   * The observers of each event that has any, so that the object of another event need not be built. Each change makes a
   * new list, so that an event only reaches the observers that existed when it was emitted.
   */
  readonly events = new Map<string, readonly Observer[]>()

  /** @param scope the record of a session or turn: `leave` removes the listener */
  on(name: string, listener: Listener, scope?: object): void {
    this.#add(name, { listener, scope })
  }

  once(name: string, listener: Listener): void {
    this.#add(name, { listener, scope: once })
  }

  /** Removes a listener of either kind. */
  off(name: string, listener: Listener): void {
    this.#keep(name, (one) => one.listener !== listener)
  }

  /** Removes the listeners of a session or turn that has ended. */
  leave(scope: object): void {
    for (const name of this.events.keys()) this.#keep(name, (one) => one.scope !== scope)
  }

  /** Passes the same event object to all observers, so each event needs its own object. Its JSON contains no thrown errors. */
  emit(name: string, event: object): void {
    if ((event as { error?: unknown }).error !== undefined && Object.isExtensible(event)) jsonSafe(event)
    for (const observer of this.#of(name))
      if (observer.scope !== once || this.#take(name, observer)) this.#call(name, observer, event)
  }

  #of(name: string): readonly Observer[] {
    return this.events.get(name) ?? none
  }

  #add(name: string, observer: Observer): void {
    const list = this.#of(name)
    const isThere = list.some(({ listener, scope }) => listener === observer.listener && scope === observer.scope)
    if (!isThere) this.events.set(name, [...list, observer])
  }

  #keep(name: string, stays: (observer: Observer) => boolean): void {
    const list = this.#of(name).filter(stays)
    if (list.length > 0) this.events.set(name, list)
    else this.events.delete(name)
  }

  /** Removes a `once` observer. Returns false if a nested event has already called it. */
  #take(name: string, observer: Observer): boolean {
    const isThere = this.#of(name).includes(observer)
    this.#keep(name, (one) => one !== observer)
    return isThere
  }

  #call(name: string, { listener }: Observer, event: unknown): void {
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

const none: readonly Observer[] = []
