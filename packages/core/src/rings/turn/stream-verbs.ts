import type { AlliumError } from '../../errors/allium-error.ts'
import { type Attempt, isLate, State } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Sink } from '../../stream/sink.ts'
import { Stage } from '../../stream/stage.ts'
import type { OnChunk, Pipe, Transforms } from '../../stream/transforms.ts'

/** What a layer may do to the stream that passes it; to be called before its next(). */
export interface StreamVerbs {
  /** Maps, drops (null) or expands each chunk, synchronously. Nothing returned means the chunk as it is. */
  onChunk(fn: OnChunk): void
  /** Sends the stream through an async generator, which may hold text back; each attempt gets a fresh one. */
  pipe(fn: Pipe): void
  /** Nothing leaves until this layer returns; then it may have rewritten the answer. */
  hold(): void
}

/** The transforms of a layer, to add to; of one that was left they go nowhere. @throws AlliumError `layer.late_transform` once its next() was called */
export function transformsOf(attempt: Attempt, verb: string): Transforms {
  const { $state, $inner, $hook, $call } = attempt
  if (isLate(attempt)) {
    $call.late(attempt, verb)
    return { steps: [], hold: false }
  }
  if ($state !== State.running || $inner !== undefined || $hook === undefined || $call.ring.scope === 'tool')
    throw layerError(
      attempt,
      'layer.late_transform',
      `called ctx.${verb}() too late. Call it in a turn or model hook, before next().`,
    )
  attempt.$transforms ??= { steps: [], hold: false }
  return attempt.$transforms
}

/** Puts a fresh stage of this layer before `out`; where `holds`, a layer's hold is kept there. */
export function openStage(attempt: Attempt, out: Sink, holds: boolean): Sink {
  const { $transforms, $hook } = attempt
  if ($transforms === undefined || $hook === undefined) return out
  const { steps, hold } = $transforms
  attempt.$stage = new Stage($hook.name, { steps, hold: hold && holds }, out)
  return attempt.$stage
}

/** A layer gave another answer than it had let through. */
export function mismatch(attempt: Attempt, what: string): AlliumError {
  const fix =
    'Call ctx.hold() before next(), or change the chunks with ctx.onChunk() or ctx.pipe(); only adding at the end is free.'
  return layerError(attempt, 'stream.mismatch', `changed ${what} after it had been streamed. ${fix}`)
}
