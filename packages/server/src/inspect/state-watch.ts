import { plainJson } from './plain-json.ts'

/** Finds the keys of a session's state that have new values. */
export class StateWatch {
  readonly #keys: readonly string[]
  readonly #values = new Map<string, unknown>()

  constructor(keys: readonly string[], state: Readonly<Record<string, unknown>>) {
    this.#keys = keys
    for (const key of keys) this.#values.set(key, state[key])
  }

  /** Returns the changes since the last call. A new object with equal content does not count. */
  changes(state: Readonly<Record<string, unknown>>): { key: string; value: unknown }[] {
    const changes: { key: string; value: unknown }[] = []
    for (const key of this.#keys) {
      const [previous, value] = [this.#values.get(key), state[key]]
      if (previous === value) continue
      this.#values.set(key, value)
      if (plainJson(previous) !== plainJson(value)) changes.push({ key, value })
    }
    return changes
  }
}
