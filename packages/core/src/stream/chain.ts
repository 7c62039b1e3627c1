import type { ContentChunk } from '../model/chunk.ts'
import { PipeLink } from './pipe-link.ts'
import { pushAll, type Sink } from './sink.ts'
import { checkChunk, type OnChunk, type Transforms } from './transforms.ts'

/** Chains a layer's transforms in the order of registration. `end` receives the output of the last one. */
export function chainTransforms(
  layer: string,
  { steps }: Transforms,
  end: Pick<Sink, 'push'>,
): { entry: Pick<Sink, 'push'>; pipes: PipeLink[] } {
  const pipes: PipeLink[] = []
  let entry = end
  for (const step of [...steps].reverse()) {
    if ('map' in step) entry = mapLink(layer, step.map, entry)
    else pipes.unshift((entry = new PipeLink(layer, step.pipe, entry)))
  }
  return { entry, pipes }
}

function mapLink(layer: string, map: OnChunk, out: Pick<Sink, 'push'>): Pick<Sink, 'push'> {
  return {
    push(chunk) {
      const mapped = map(chunk)
      if (mapped === undefined || mapped === chunk) return out.push(chunk)
      if (mapped === null) return
      if (!Array.isArray(mapped)) return out.push(checkChunk(mapped as ContentChunk, layer))
      for (const one of mapped) checkChunk(one, layer)
      return pushAll(out, mapped)
    },
  }
}
