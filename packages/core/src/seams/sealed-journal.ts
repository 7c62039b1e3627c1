import { fromJson, toJson } from '../messages/plain-json.ts'
import { type Emit, isCancellation, type Journal } from './journal.ts'
import { decodeOutcome, encodeOutcome, outcomeOf, type StepOutcome } from './outcome.ts'

type Bytes = Uint8Array | Promise<Uint8Array>

/** Makes bytes unreadable, and readable again: AES-GCM with a key of yours, say. What was changed must not open. */
export interface Seals {
  /** @param location where the bytes stand: bind it as associated data, so that they open nowhere else */
  seal(bytes: Uint8Array, location: { step: string }): Bytes
  open(bytes: Uint8Array, location: { step: string }): Bytes
}

/**
 * A journal that keeps nothing in the clear. It stands below all layers, so it is told what a verdict withheld: the chunks of
 * a blocked answer, what a tool brought before a guard had looked. Chunks, results and errors reach the journal inside as bytes.
 *
 * A replay gives JSON values, bytes, URLs, dates, maps, sets and bigints as they were; of an error its name, message, code and
 * status. What else a tool returned is left out, and its text stands for it; what else `ctx.once()` gave fails with `state.invalid`.
 *
 * @example
 * new Agent({ model, journal: sealedJournal(memoryJournal(), { seal, open }) })
 */
export function sealedJournal(journal: Journal, { seal, open }: Seals): Journal {
  const close = async (text: string, step: string) => seal(new TextEncoder().encode(text), { step })
  const read = async (sealed: unknown, step: string) =>
    new TextDecoder().decode(await open(sealed as Uint8Array, { step }))

  return {
    ...(journal.known !== undefined && { known: (id: string) => journal.known?.(id) ?? false }),
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      /** What this process did itself goes on as it is. */
      let ran: StepOutcome | undefined
      let item = 0
      const live: C[] = []
      const sealedWork = async (store: Emit<Uint8Array>) => {
        ran = await outcomeOf(() =>
          work(async (one) => {
            live.push(one)
            await store(await close(toJson(one), `${id}#${live.length - 1}`))
          }),
        )
        if ('error' in ran && isCancellation(ran.error)) throw ran.error
        return close(encodeOutcome(ran), `${id}#end`)
      }
      const opened = async (sealed: Uint8Array) => {
        const at = item++
        return emit(at < live.length ? (live[at] as C) : (fromJson(await read(sealed, `${id}#${at}`)) as C))
      }
      const sealed = await journal.step<Uint8Array, Uint8Array>(id, sealedWork, opened)
      const ended = ran ?? decodeOutcome(await read(sealed, `${id}#end`))
      if ('error' in ended) throw ended.error
      return ended.result as T
    },
  }
}
