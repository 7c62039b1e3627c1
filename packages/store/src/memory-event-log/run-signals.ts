import { fromJson, toJson } from '@allium/core'
import type { RunSignal } from '../event-log.ts'

type Listener = (signal: RunSignal) => void | Promise<void>

/** The signals sent to one run. */
export class RunSignals {
  /** Unhandled signals as text, by id. A stop has none. */
  readonly #kept = new Map<string | undefined, string>()
  readonly #known = new Set<string>()
  #listener: Listener | undefined
  /** Identifies the newest listener, even after it has stopped listening. */
  #token = 0

  add(signal: RunSignal): void {
    const [{ id }, text] = [signal, toJson(signal)]
    if (this.#kept.has(id) || (id !== undefined && this.#known.has(id))) return
    if (id !== undefined) this.#known.add(id)
    this.#kept.set(id, text)
    void this.#tell(id)
  }

  listen(fn: Listener): () => void {
    const token = ++this.#token
    this.#listener = fn
    for (const id of [...this.#kept.keys()]) void this.#tell(id)
    return () => {
      if (this.#token === token) this.#listener = undefined
    }
  }

  /** Removes and returns the undelivered steers. A stop is dropped, because the end of the run fulfills it. */
  takeSteers(): RunSignal[] {
    this.#kept.delete(undefined)
    const steers = [...this.#kept.values()].map(signalIn)
    this.#kept.clear()
    return steers
  }

  async #tell(id: string | undefined): Promise<void> {
    const [text, token, listener] = [this.#kept.get(id), this.#token, this.#listener]
    if (text === undefined || listener === undefined) return
    try {
      await listener(signalIn(text))
      if (this.#token === token) this.#kept.delete(id)
    } catch {
      // The signal stays for the next listener.
    }
  }
}

function signalIn(text: string): RunSignal {
  return fromJson(text) as RunSignal
}
