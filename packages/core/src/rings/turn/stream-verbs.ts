import type { AlliumError } from '../../errors/allium-error.ts'
import { layerError } from '../../onion/misuse.ts'
import { type Frame, Phase } from '../../onion/next.ts'
import type { Sink } from '../../stream/sink.ts'
import { Stage } from '../../stream/stage.ts'
import type { OnChunk, Pipe, Transforms } from '../../stream/transforms.ts'

/** What a layer keeps of its stream: the transforms it asked for, and the stage of the running attempt. */
export interface LayerStream {
  readonly transforms: Transforms
  stage: Stage | undefined
}

/** What a layer may do to the stream that passes it; to be called before its next(). */
export interface StreamVerbs {
  /** Maps, drops (null) or expands each chunk, synchronously. Nothing returned means the chunk as it is. */
  onChunk(fn: OnChunk): void
  /** Sends the stream through an async generator, which may hold text back; each attempt gets a fresh one. */
  pipe(fn: Pipe): void
  /** Nothing leaves until this layer returns; then it may have rewritten the answer. */
  hold(): void
}

export const streamOf = (frame: Frame): LayerStream | undefined => frame.own as LayerStream | undefined

/** The transforms of a layer, to add to. @throws AlliumError `layer.late_transform` once its next() was called */
export function transformsOf(frame: Frame, verb: string): Transforms {
  if (frame.phase !== Phase.idle || frame.exited || frame.passage.scope === 'tool')
    throw layerError(
      frame,
      'layer.late_transform',
      `called ctx.${verb}() too late: the stream already flows. Call it in a turn or model hook, before next().`,
    )
  frame.own ??= { transforms: { steps: [], hold: false }, stage: undefined } satisfies LayerStream
  return (frame.own as LayerStream).transforms
}

/** Puts a fresh stage of this layer before `out`; where `holds`, a layer's hold is kept there. */
export function openStage(frame: Frame, out: Sink, holds: boolean): Sink {
  const stream = streamOf(frame)
  if (stream === undefined) return out
  const { steps, hold } = stream.transforms
  stream.stage = new Stage(frame.hook.name, { steps, hold: hold && holds }, out)
  return stream.stage
}

/** A layer gave another answer than it had let through. */
export function mismatch(frame: Frame, what: string): AlliumError {
  const mend =
    'Call ctx.hold() before next(), or change the chunks with ctx.onChunk() or ctx.pipe(); only adding at the end is free.'
  return layerError(frame, 'stream.mismatch', `changed ${what} after it had been streamed. ${mend}`)
}
