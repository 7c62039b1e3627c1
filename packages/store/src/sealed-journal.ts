import { type Emit, fromJson, type Journal, toJson } from '@allium/core'
import { isCancellation } from '@allium/core/internal'
import { decodeOutcome, encodeOutcome, outcomeOf, type StepOutcome } from './outcome.ts'

type Bytes = Uint8Array | Promise<Uint8Array>

/** Encrypts and decrypts bytes, for example with AES-GCM and your own key. `open` must fail for modified bytes. */
export interface Seals {
  /** @param location the step that the bytes belong to: bind it as associated data, so that they open nowhere else */
  seal(bytes: Uint8Array, location: { step: string }): Bytes
  open(bytes: Uint8Array, location: { step: string }): Bytes
}

/**
 * Encrypts all entries of a journal. A journal is inside all layers, so it records data that a layer withheld: the chunks of a
 * blocked answer, or a tool result before a guard has checked it. The inner journal gets chunks, results and errors as bytes.
 *
 * A replay restores JSON values, bytes, URLs, dates, maps, sets and bigints. Of an error it restores the name, message, code and
 * status. Of any other return value of a tool it keeps only the text. Any other value of `ctx.once()` fails with `state.invalid`.
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
    checkEnd: (turnId) => journal.checkEnd?.(turnId),
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      /** The outcome if this process ran the step; it is passed on unchanged. */
      let ran: StepOutcome | undefined
      let passedOn = 0
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
      const opened = async (item: Uint8Array) => {
        const at = passedOn++
        return emit(at < live.length ? (live[at] as C) : (fromJson(await read(item, `${id}#${at}`)) as C))
      }
      const sealed = await journal.step<Uint8Array, Uint8Array>(id, sealedWork, opened)
      const ended = ran ?? decodeOutcome(await read(sealed, `${id}#end`))
      if ('error' in ended) throw ended.error
      return ended.result as T
    },
  }
}
