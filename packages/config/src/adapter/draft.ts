/** The data of one entry: its context, and the function that applies its changes. A late entry changes nothing. */
export interface Draft<Context> {
  readonly ctx: Context
  commit?(): void
}

/** Whether an entry may still act. */
export interface EntryState {
  open: boolean
}

/** A value that is copied on first access, so that an unread context costs nothing. */
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

/** Copies plain objects and arrays; all other values, such as bytes and URLs, are shared. */
function copyData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyData)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyData(field)]))
}
