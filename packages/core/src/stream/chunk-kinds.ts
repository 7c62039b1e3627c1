import type { ContentChunk } from '../model/chunk.ts'

const kinds: Record<ContentChunk['type'], true> = {
  'text-delta': true,
  'reasoning-delta': true,
  'tool-input-start': true,
  'tool-input-delta': true,
  'tool-input-end': true,
  'tool-result': true,
  file: true,
  source: true,
  custom: true,
}

/** Whether a chunk of this type passes through the layers. */
export function isContentKind(type: unknown): type is ContentChunk['type'] {
  return typeof type === 'string' && Object.hasOwn(kinds, type)
}
