import type { ContentChunk } from '../../src/index.ts'
import type { MapKind, PipeKind } from './case.ts'

type Chunks = AsyncIterable<ContentChunk>
type End = () => Promise<{ response: unknown } | { error: unknown }>

const text = (delta: string): ContentChunk => ({ type: 'text-delta', delta })

/** A transform of texts for `ctx.onChunk()`; the specification has the same in spec/stream.ts. */
export function mapOf(how: MapKind): (chunk: ContentChunk) => ContentChunk | ContentChunk[] | null | undefined {
  return (chunk) => {
    if (chunk.type !== 'text-delta') return undefined
    if (how === 'double') return [chunk, text('-')]
    if (how === 'star') return text(`${chunk.delta}*`)
    return chunk.delta.length % 2 === 0 ? null : chunk
  }
}

/** The same for `ctx.pipe()`; at each chunk it awaits some noise. */
export function pipeOf(how: PipeKind, noise: () => Promise<void>): (chunks: Chunks, end?: End) => Chunks {
  return (chunks, end) => kinds[how](noisy(chunks, noise), end)
}

async function* noisy(chunks: Chunks, noise: () => Promise<void>): Chunks {
  for await (const chunk of chunks) {
    await noise()
    yield chunk
  }
}

const kinds: Record<PipeKind, (chunks: Chunks, end: End | undefined) => Chunks> = {
  pass: (chunks) => chunks,
  async *pairs(chunks) {
    let kept: string | undefined
    for await (const chunk of chunks) {
      if (chunk.type !== 'text-delta') {
        if (kept !== undefined) yield text(kept)
        kept = undefined
        yield chunk
      } else if (kept === undefined) kept = chunk.delta
      else {
        yield text(kept + chunk.delta)
        kept = undefined
      }
    }
    if (kept !== undefined) yield text(kept)
  },
  async *brackets(chunks) {
    let open = false
    for await (const chunk of chunks) {
      if (!open) yield text('[')
      open = true
      yield chunk
    }
    if (!open) yield text('[')
    yield text(']')
  },
  async *verdict(chunks, end) {
    const kept: ContentChunk[] = []
    for await (const chunk of chunks) kept.push(chunk)
    const ended = await end?.()
    if (ended !== undefined && 'error' in ended) yield text('!')
    else yield* kept
  },
  async *few(chunks) {
    for await (const chunk of chunks) {
      yield chunk
      if (chunk.type === 'text-delta') return
    }
  },
}
