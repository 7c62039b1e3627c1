import { followSignal, messageOf } from '@allium/core'
import { isThenable } from '@allium/core/internal'
import type { HookName } from '../contexts.ts'
import type { EntryState } from './draft.ts'
import type { Entry, EntryCall } from './hooks.ts'
import type { InTurn } from './loop.ts'

/**
 * Runs one entry until it ends or times out. A cancelled run ends it with the run's reason. A synchronous entry needs no timer, which
 * would cost more than most hooks.
 */
export function runEntry(
  hook: HookName,
  entry: Entry,
  ctx: unknown,
  turn: InTurn,
  entryState: EntryState,
): undefined | Promise<'done' | 'late'> {
  const call = new Call(hook, entry, turn)
  try {
    const returned = entry.run(ctx as never, call)
    if (isThenable(returned)) return race(returned, entry, turn, entryState, call)
  } catch (error) {
    entryState.open = false
    throw error
  }
  entryState.open = false
  return undefined
}

class Call implements EntryCall {
  readonly hook: HookName
  readonly #label: string
  readonly #turn: InTurn
  #controller: AbortController | undefined

  constructor(hook: HookName, { label }: Entry, turn: InTurn) {
    this.hook = hook
    this.#label = label
    this.#turn = turn
  }

  /** Created for an entry that reads it while it starts. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }
  abort(reason: unknown): void {
    this.#controller?.abort(reason)
  }
  defer(work: Promise<unknown>): void {
    this.#turn.defer(work)
  }
  debug(message: string): void {
    this.#turn.logger.debug?.(`${this.#label}: ${message}`)
  }
  warn(message: string): void {
    this.#turn.logger.warn(`${this.#label}: ${message}`)
  }
}

function race(
  running: PromiseLike<unknown>,
  { timeout }: Entry,
  { signal, clock }: InTurn,
  entryState: EntryState,
  call: Call,
): Promise<'done' | 'late'> {
  return new Promise((resolve, reject) => {
    const end = () => {
      disarm()
      unfollow()
      entryState.open = false
    }
    let unfollow = () => {}
    const disarm = clock.after(timeout, () => {
      end()
      call.abort(new DOMException(`It took longer than ${timeout} ms.`, 'TimeoutError'))
      resolve('late')
    })
    running.then(
      () => {
        if (!entryState.open) return
        end()
        resolve('done')
      },
      (error) => {
        if (!entryState.open) return call.debug(`failed after it was left: ${messageOf(error)}`)
        end()
        reject(error)
      },
    )
    unfollow = followSignal(signal, (reason) => {
      end()
      call.abort(reason)
      reject(reason)
    })
  })
}
