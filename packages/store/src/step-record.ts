import { type Emit, fromJson, toJson } from '@allium/core'
import { isCancellation, merged } from '@allium/core/internal'
import { decodeOutcome, encodeOutcome, keptOutcome, outcomeIn, outcomeOf, type StepOutcome } from './outcome.ts'

/** A recorded step, as a value that `toJson` takes: its items and its outcome. */
export type StepValue = readonly [items: readonly unknown[], outcome: unknown]

/**
 * Runs a step and stores its items and outcome as text, for a journal. Merges adjacent text chunks. A step that was cancelled with
 * its run is not stored.
 *
 * @param store is awaited before the step ends
 * @returns the result of the step, or throws its error
 * @throws AlliumError `journal.too_large` if the outcome exceeds the journal's limit, `state.invalid` if it cannot be serialized
 */
export function recordStep<T, C>(
  work: (emit: Emit<C>) => T | PromiseLike<T>,
  emit: Emit<C>,
  store: (record: string) => void | Promise<void>,
): Promise<T> {
  return run(work, emit, (items, ended) => store(JSON.stringify([toJson(items), encodeOutcome(ended)])))
}

/**
 * Same as {@link recordStep}, for a journal that stores bytes apart from JSON. Bytes, base64 and data URLs do not count toward the
 * limit.
 *
 * @param store receives the bytes of the step itself, not a copy
 */
export function recordStepValue<T, C>(
  work: (emit: Emit<C>) => T | PromiseLike<T>,
  emit: Emit<C>,
  store: (record: StepValue) => void | Promise<void>,
): Promise<T> {
  return run(work, emit, (items, ended) => store([items, keptOutcome(ended)]))
}

/**
 * Emits the items of a recorded step, and returns its result.
 *
 * @param record the record of {@link recordStep} or {@link recordStepValue}
 * @throws AlliumError `journal.corrupt`; the error of the step
 */
export async function replayStep<T, C>(record: unknown, emit: Emit<C>): Promise<T> {
  const [items, ended] = read(record)
  for (const item of items as C[]) await emit(item)
  return given<T>(ended())
}

async function run<T, C>(
  work: (emit: Emit<C>) => T | PromiseLike<T>,
  emit: Emit<C>,
  store: (items: readonly unknown[], ended: StepOutcome) => void | Promise<void>,
): Promise<T> {
  const items: unknown[] = []
  const ended = await outcomeOf(() =>
    work((item) => {
      items.push(item)
      return emit(item)
    }),
  )
  if (!('error' in ended) || !isCancellation(ended.error)) await store(merged(items), ended)
  return given<T>(ended)
}

function read(record: unknown): [items: readonly unknown[], ended: () => StepOutcome] {
  if (Array.isArray(record) && Array.isArray(record[0])) return [record[0], () => outcomeIn(record[1])]
  try {
    const [items, outcome] = JSON.parse(record as string) as [string, string]
    return [fromJson(items) as unknown[], () => decodeOutcome(outcome)]
  } catch {
    // An empty outcome is invalid, so decoding it throws `journal.corrupt`.
    return [[], () => decodeOutcome('')]
  }
}

function given<T>(ended: StepOutcome): T {
  if ('error' in ended) throw ended.error
  return ended.result as T
}
