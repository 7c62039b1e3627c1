import { AlliumError } from '../../errors/allium-error.ts'
import type { ContentChunk } from '../../model/chunk.ts'
import { isOpen, State } from '../../onion/attempt.ts'
import type { ModelAttempt } from './context.ts'

/** Sends chunks outward for a layer, while its attempt is open. */
export function push(attempt: ModelAttempt, chunks: readonly ContentChunk[], from = 0): void | Promise<void> {
  for (let i = from; i < chunks.length && isOpen(attempt); i++) {
    const backpressure = attempt.$sink?.push(chunks[i] as ContentChunk)
    if (backpressure !== undefined) return backpressure.then(() => push(attempt, chunks, i + 1))
  }
}

/** Returns an error if the run refuses to take back chunks and the reader has seen some. */
export function refuseReset({ $turn: turn, $inner }: ModelAttempt): AlliumError | undefined {
  if (turn.options.onRetryAfterOutput !== 'fail' || !turn.answer.isShown) return undefined
  const failed = $inner !== undefined && $inner.$state !== State.done
  return new AlliumError(
    'stream.reset',
    'The reader has received chunks of this model call, and { onRetryAfterOutput: "fail" } forbids a reset. Hold the answer with ctx.hold(), or allow resets.',
    { ...(failed && { cause: $inner.$outcome }) },
  )
}
