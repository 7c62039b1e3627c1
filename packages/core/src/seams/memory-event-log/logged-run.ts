import { AlliumError } from '../../errors/allium-error.ts'
import { fromJson } from '../../messages/plain-json.ts'
import type { Logged, LoggedEvent, RunKey } from '../event-log.ts'
import { followSignal } from '../follow-signal.ts'
import { RunSignals } from './run-signals.ts'

/** The events of one run, and what is asked of it. */
export class LoggedRun {
  readonly signals = new RunSignals()
  ended = false
  /** The event n stands at n - 1. */
  readonly #texts: string[] = []
  readonly #readers = new Set<() => void>()
  #epoch = Number.NEGATIVE_INFINITY

  constructor(readonly run: RunKey) {}

  get seq(): number {
    return this.#texts.length
  }

  /** @param texts events as JSON */
  append(epoch: number, texts: readonly string[], end: boolean): Logged {
    if (epoch < this.#epoch || (epoch === this.#epoch && this.ended)) throw fenced(this.run, epoch === this.#epoch)
    this.#epoch = epoch
    const unheard = end ? this.signals.takeSteers() : []
    if (unheard.length > 0) return { unheard }
    for (const text of texts) this.#texts.push(text)
    this.ended = end
    for (const wake of [...this.#readers]) wake()
    return { seq: this.seq }
  }

  /** A reader who leaves wakes its own `next()`, which may wait for an event. */
  read(after: number, signal: AbortSignal | undefined): AsyncIterableIterator<LoggedEvent, undefined> {
    const left = new AbortController()
    const events = this.#events(after, left, signal)
    return {
      next: () => events.next(),
      return: () => {
        left.abort()
        return events.return(undefined)
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  async *#events(
    after: number,
    left: AbortController,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LoggedEvent, undefined> {
    const untie = signal === undefined ? () => {} : followSignal(signal, () => left.abort())
    try {
      for (let seq = Math.max(0, Math.floor(after) || 0); !left.signal.aborted; ) {
        const text = this.#texts[seq]
        if (text !== undefined) yield { seq: ++seq, event: fromJson(text) }
        else if (this.ended) return undefined
        else await this.#more(left.signal)
      }
    } finally {
      untie()
    }
    return undefined
  }

  #more(left: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#readers.delete(wake)
        left.removeEventListener('abort', wake)
        resolve()
      }
      this.#readers.add(wake)
      left.addEventListener('abort', wake)
    })
  }
}

function fenced({ key, turnId }: RunKey, ended: boolean): AlliumError {
  const why = ended ? 'it has ended' : 'another process has taken it over'
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" takes no more events from here: ${why}. Nothing was stored.`,
  )
}
