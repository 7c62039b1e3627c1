import type { Model, ModelChunk, ModelRequest } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import type { RecordedStep } from '../recorded-turn.ts'
import { errorOf, isCancelled } from './recorded-error.ts'

/**
 * Returns a model that answers one call with its recorded chunks or error. A call that was cancelled sends its chunks and then waits until
 * it is cancelled again.
 *
 * @param id the id of the model that it stands for
 * @param ready resolves when the answer may begin
 */
export function pinnedModel(id: string, step: RecordedStep, ready: () => Promise<void> | undefined): Model {
  return {
    id,
    async *stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
      await ready()
      for (const item of step.items ?? []) yield copyOf(item) as ModelChunk
      if (isCancelled(step)) await cancelled(request.signal)
      if (step.error !== undefined) throw errorOf(step.error)
      yield copyOf(step.result) as ModelChunk
    },
  }
}

function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** A layer may change the chunk that it receives. */
function copyOf(item: unknown): unknown {
  return isRecord(item) ? { ...item } : item
}
