import { isAlliumError, isBlockError } from '../../src/index.ts'

/** An error that a case throws; its message is its label. */
export class Planned extends Error {}

/** What the specification calls an error. */
export function labelOf(error: unknown): string {
  if (error instanceof Planned) return error.message
  if (isBlockError(error)) return (error as unknown as { reason: string }).reason
  if (isAlliumError(error)) {
    const { layer } = (error.details ?? {}) as { layer?: string }
    return named.has(error.code) ? `${error.code} ${layer}` : error.code
  }
  if (error instanceof Error && error.name === 'AbortError') return String((error as { reason?: unknown }).reason)
  return String(error)
}

/** Codes whose error names the layer at fault. */
const named = new Set([
  'layer.floating_next',
  'layer.next_late',
  'layer.next_running',
  'layer.next_twice',
  'layer.no_next',
  'layer.no_result',
  'stream.mismatch',
])
