/** What one entry works on: its context, and how its changes take effect. An entry that comes too late changes nothing. */
export interface Draft<Context> {
  readonly ctx: Context
  commit?(): void
}

/** Whether an entry may still act. */
export interface EntryState {
  open: boolean
}

/** A value that is copied when somebody looks, so that a context costs nothing which nobody reads. */
export class Lazy<T> {
  #value: T | undefined
  #touched = false
  readonly #read: () => unknown

  constructor(read: () => unknown) {
    this.#read = read
  }

  /** Whether it may have changed. */
  get touched(): boolean {
    return this.#touched
  }
  get value(): T {
    if (!this.#touched) this.value = copyData(this.#read()) as T
    return this.#value as T
  }
  set value(value: T) {
    this.#touched = true
    this.#value = value
  }
}

/** Plain objects and arrays are copied; all else, such as bytes and URLs, is shared. */
function copyData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyData)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyData(field)]))
}
