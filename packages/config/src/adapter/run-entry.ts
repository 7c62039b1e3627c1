import { followSignal, messageOf } from '@allium/core'
import type { HookName } from '../contexts.ts'
import type { Life } from './draft.ts'
import type { Entry, EntryCall } from './hooks.ts'
import type { InTurn } from './loop.ts'

/**
 * Runs one entry to its end or its timeout, whichever comes first. A cancelled run ends it with the run's reason. One that is
 * done at once needs no timer, which would cost more than most hooks.
 */
export function runEntry(
  hook: HookName,
  entry: Entry,
  ctx: unknown,
  place: InTurn,
  life: Life,
): undefined | Promise<'done' | 'late'> {
  const call = new Call(hook, entry, place)
  try {
    const returned = entry.run(ctx as never, call)
    if (isThenable(returned)) return race(returned, entry, place, life, call)
  } catch (error) {
    life.open = false
    throw error
  }
  life.open = false
  return undefined
}

class Call implements EntryCall {
  readonly hook: HookName
  readonly #label: string
  readonly #place: InTurn
  #cut: AbortController | undefined

  constructor(hook: HookName, { label }: Entry, place: InTurn) {
    this.hook = hook
    this.#label = label
    this.#place = place
  }

  /** Made for an entry that reads it, while it starts. */
  get signal(): AbortSignal {
    this.#cut ??= new AbortController()
    return this.#cut.signal
  }
  cut(reason: unknown): void {
    this.#cut?.abort(reason)
  }
  defer(work: Promise<unknown>): void {
    this.#place.defer(work)
  }
  debug(message: string): void {
    this.#place.logger.debug?.(`${this.#label}: ${message}`)
  }
  warn(message: string): void {
    this.#place.logger.warn(`${this.#label}: ${message}`)
  }
}

function race(
  running: PromiseLike<unknown>,
  { timeout }: Entry,
  { signal, clock }: InTurn,
  life: Life,
  call: Call,
): Promise<'done' | 'late'> {
  return new Promise((resolve, reject) => {
    const end = () => {
      disarm()
      release()
      life.open = false
    }
    let release = () => {}
    const disarm = clock.after(timeout, () => {
      end()
      call.cut(new DOMException(`It took longer than ${timeout} ms.`, 'TimeoutError'))
      resolve('late')
    })
    running.then(
      () => {
        if (!life.open) return
        end()
        resolve('done')
      },
      (error) => {
        if (!life.open) return call.debug(`failed after it was left: ${messageOf(error)}`)
        end()
        reject(error)
      },
    )
    release = followSignal(signal, (reason) => {
      end()
      call.cut(reason)
      reject(reason)
    })
  })
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'
}
