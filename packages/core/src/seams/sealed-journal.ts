import { isAlliumError } from '../errors/allium-error.ts'
import { isPlain } from '../messages/json.ts'
import { fromJson, toJson } from '../messages/plain-json.ts'
import { type Emit, isCancellation, type Journal } from './journal.ts'

type Bytes = Uint8Array | Promise<Uint8Array>

/** Makes bytes unreadable, and readable again: AES-GCM with a key of yours, say. What was changed must not open. */
export interface Seals {
  /** @param place where the bytes stand: bind it as associated data, so that they open nowhere else */
  seal(bytes: Uint8Array, place: { step: string }): Bytes
  open(bytes: Uint8Array, place: { step: string }): Bytes
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
  const close = async (value: unknown, step: string) => seal(new TextEncoder().encode(encode(value)), { step })
  const read = async (sealed: unknown, step: string) =>
    decode(new TextDecoder().decode(await open(sealed as Uint8Array, { step })))

  return {
    ...(journal.known !== undefined && { known: (id: string) => journal.known?.(id) ?? false }),
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      /** What this process did itself goes on as it is. */
      let ran: { result: T } | { error: unknown } | undefined
      let item = 0
      const live: C[] = []
      const sealedWork = async (keep: Emit<Uint8Array>) => {
        try {
          const result = await work(async (one) => {
            live.push(one)
            await keep(await close(one, `${id}#${live.length - 1}`))
          })
          ran = { result }
          return await close(result, `${id}#end`)
        } catch (error) {
          ran = { error }
          if (isCancellation(error)) throw error
          throw Object.assign(new Error(withheld), { sealed: await close(error, `${id}#end`) })
        }
      }
      const opened = async (sealed: Uint8Array) => {
        const at = item++
        return emit(at < live.length ? (live[at] as C) : ((await read(sealed, `${id}#${at}`)) as C))
      }
      try {
        const sealed = await journal.step<Uint8Array, Uint8Array>(id, sealedWork, opened)
        return ran !== undefined && 'result' in ran ? ran.result : ((await read(sealed, `${id}#end`)) as T)
      } catch (error) {
        if (ran !== undefined && 'error' in ran) throw ran.error
        const { sealed } = (error ?? {}) as { sealed?: unknown }
        throw sealed === undefined ? error : await read(sealed, `${id}#end`)
      }
    },
  }
}

const withheld = 'A step failed; what was thrown is sealed.'

/** What was thrown stands beside the value, where no value can pose as it. */
interface Kept {
  value?: unknown
  error?: unknown
}

function encode(value: unknown): string {
  const kept = keptOf(value)
  try {
    return toJson(kept)
  } catch (error) {
    if (!isAlliumError(error, 'state.invalid') || !isToolResult(kept.value)) throw error
    const { value: _, ...rest } = kept.value
    return toJson({ ...kept, value: rest })
  }
}

function decode(text: string): unknown {
  const { value, error } = fromJson(text) as Kept
  if (error === undefined) return value
  return value === undefined ? made(error) : { ...(value as object), error: made(error) }
}

function keptOf(value: unknown): Kept {
  if (value instanceof Error) return { error: told(value) }
  if (!isToolResult(value) || value.error === undefined) return { value }
  const { error, ...rest } = value
  return { value: rest, error: told(error) }
}

function isToolResult(value: unknown): value is { content: unknown; value?: unknown; error?: unknown } {
  return typeof value === 'object' && value !== null && isPlain(value) && 'callId' in value && 'content' in value
}

const errorFields = ['name', 'message', 'code', 'status', 'isRetryable', 'expose'] as const

function told(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const all = error as Error & Record<string, unknown>
  return Object.fromEntries(
    errorFields.map((field) => [field, all[field]]).filter(([, one]) => typeof one !== 'object'),
  )
}

function made(given: unknown): Error {
  const { message, ...rest } = given as { message?: unknown }
  return Object.assign(new Error(String(message)), rest)
}
