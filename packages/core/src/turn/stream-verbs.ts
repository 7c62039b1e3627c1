import type { AlliumError } from '../errors/allium-error.ts'
import { type Attempt, isLate, State } from '../onion/attempt.ts'
import { layerError } from '../onion/misuse.ts'
import { Stage } from '../stream/stage.ts'
import type { Sink, Transforms } from '../stream/transforms.ts'

/**
 * Returns the transforms of a layer, to add to. For an abandoned layer they have no effect.
 * @throws AlliumError `layer.late_transform` after its next() was called
 */
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

/** Opens a new stage of this layer in front of `out`. `holds`: whether the stage buffers for a layer that holds. */
export function openStage(attempt: Attempt, out: Sink, holds: boolean): Sink {
  const { $transforms, $hook } = attempt
  if ($transforms === undefined || $hook === undefined) return out
  const { steps, hold } = $transforms
  attempt.$stage = new Stage($hook.name, { steps, hold: hold && holds }, out)
  return attempt.$stage
}

/** Returns the error for a layer that changed an answer after it was streamed. */
export function mismatch(attempt: Attempt, what: string): AlliumError {
  const fix = 'Call ctx.hold() before next(), or change the chunks with ctx.onChunk() or ctx.pipe().'
  return layerError(attempt, 'stream.mismatch', `changed ${what} after it had been streamed. ${fix}`)
}
