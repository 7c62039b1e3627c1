import { AlliumError } from '../../errors/allium-error.ts'
import type { ContentChunk } from '../../model/chunk.ts'
import { isOpen, State } from '../../onion/attempt.ts'
import type { ModelAttempt } from './context.ts'

/** Sends chunks outward on behalf of a layer, while its attempt lasts. */
export function push(attempt: ModelAttempt, chunks: readonly ContentChunk[], from = 0): void | Promise<void> {
  for (let i = from; i < chunks.length && isOpen(attempt); i++) {
    const wait = attempt.$sink?.push(chunks[i] as ContentChunk)
    if (wait !== undefined) return wait.then(() => push(attempt, chunks, i + 1))
  }
}

/** Takes back what was streamed, because other chunks follow. @throws AlliumError `stream.reset` where the run refuses that */
export function takeBack(attempt: ModelAttempt): void {
  const refusal = refuseReset(attempt)
  if (refusal !== undefined) throw refusal
  if (attempt.$sink?.used === true) attempt.$sink.reset()
}

/** Why nothing may take the place of what was streamed, if it may not. */
export function refuseReset({ $turn: turn, $inner }: ModelAttempt): AlliumError | undefined {
  if (turn.options.resets !== 'refuse' || !turn.answer.isShown) return undefined
  const failed = $inner !== undefined && $inner.$state !== State.done
  return new AlliumError(
    'stream.reset',
    'Chunks of this model call have reached the reader, and the run refuses to take them back ({ resets: "refuse" }). Hold the answer back with ctx.hold(), or allow resets.',
    { ...(failed && { cause: $inner.$outcome }) },
  )
}
