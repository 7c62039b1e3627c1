import type { Clock } from '@allium/core'
import { MemoryFeedback } from './feedback/memory-feedback.ts'
import { MemoryRecordings } from './recordings/memory-recordings.ts'
import { MemoryRollouts } from './rollouts/memory-rollouts.ts'

/** Returns the parts of the memory store that are erased with sessions or their owners. It loads them with the first use of one. */
export function memoryParts(clock: Clock) {
  return [new MemoryRecordings(clock), new MemoryFeedback(), new MemoryRollouts(clock)] as const
}
