import { merged } from '../messages/join-deltas.ts'
import { fromJson, toJson } from '../messages/plain-json.ts'
import { type Emit, isCancellation } from './journal.ts'
import { decodeOutcome, encodeOutcome, outcomeOf, type StepOutcome } from './outcome.ts'

/**
 * Runs a step for a journal that keeps texts: what it emitted, neighbouring pieces of text as one, and what it came to. A step that
 * was cancelled with its run is not kept.
 *
 * @param keep is awaited before the step ends
 * @returns what the step gave; throws what it threw
 * @throws AlliumError `journal.too_large` where it came to more than a journal keeps, `state.invalid` where it cannot be kept
 */
export async function recordStep<T, C>(
  work: (emit: Emit<C>) => T | PromiseLike<T>,
  emit: Emit<C>,
  keep: (record: string) => void | Promise<void>,
): Promise<T> {
  const items: unknown[] = []
  const ended = await outcomeOf(() =>
    work((item) => {
      items.push(item)
      return emit(item)
    }),
  )
  if (!('error' in ended) || !isCancellation(ended.error)) await keep(recordOf(items, ended))
  return given<T>(ended)
}

/** Emits what a recorded step has emitted, and gives what it came to. @throws AlliumError `journal.corrupt`; what the step threw */
export async function replayStep<T, C>(record: string, emit: Emit<C>): Promise<T> {
  const [items, outcome] = read(record)
  for (const item of items as C[]) await emit(item)
  return given<T>(decodeOutcome(outcome))
}

function recordOf(items: readonly unknown[], ended: StepOutcome): string {
  return JSON.stringify([toJson(merged(items)), encodeOutcome(ended)])
}

function read(record: string): [items: unknown[], outcome: string] {
  try {
    const [items, outcome] = JSON.parse(record) as [string, string]
    return [fromJson(items) as unknown[], outcome]
  } catch {
    // No outcome is empty.
    return [[], '']
  }
}

function given<T>(ended: StepOutcome): T {
  if ('error' in ended) throw ended.error
  return ended.result as T
}
