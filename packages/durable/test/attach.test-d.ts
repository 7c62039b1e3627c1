// Compiled, never run.
import type { Durable } from '../src/index.ts'

/** The events of `attach()` have the types of the stream, so that a reader needs no casts. */
export async function readDeltas(runs: Durable): Promise<string> {
  let text = ''
  for await (const { seq, event } of runs.attach('run', { principal: undefined })) {
    seq satisfies number
    if (event.event.type === 'text-delta') text += event.event.delta
    // @ts-expect-error there is no event of this type
    if (event.event.type === 'text') return text
  }
  return text
}
