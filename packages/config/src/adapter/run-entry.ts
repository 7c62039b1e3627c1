import { messageOf } from '@allium/core'
import type { HookName } from '../contexts.ts'
import type { Life } from './draft.ts'
import type { Entry, EntryCall } from './hooks.ts'
import type { InTurn } from './loop.ts'

/** Runs one entry to its end or its timeout, whichever comes first. A cancelled run ends it with the run's reason. */
export function runEntry(
  hook: HookName,
  { run, timeout, label }: Entry,
  ctx: unknown,
  place: InTurn,
  life: Life,
): Promise<'done' | 'late'> {
  const cut = new AbortController()
  const call: EntryCall = {
    hook,
    signal: cut.signal,
    defer: (work) => place.defer(work),
    debug: (message) => place.logger.debug?.(`${label}: ${message}`),
    warn: (message) => place.logger.warn(`${label}: ${message}`),
  }
  return new Promise((resolve, reject) => {
    const { signal } = place
    const end = () => {
      disarm()
      signal.removeEventListener('abort', onAbort)
      life.open = false
    }
    const onAbort = () => {
      end()
      cut.abort(signal.reason)
      reject(signal.reason)
    }
    const disarm = place.clock.after(timeout, () => {
      end()
      cut.abort(new DOMException(`It took longer than ${timeout} ms.`, 'TimeoutError'))
      resolve('late')
    })
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const started = new Promise((done) => done(run(ctx as never, call)))
    started.then(
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
  })
}
