import type { Clock, SessionKey } from '@allium/core'
import type { EventScope, LateParts } from '@allium/store'
import { MemoryFeedback } from '../feedback/memory-feedback.ts'
import type { MemorySessions } from '../memory-store/memory-sessions.ts'
import { pageOf } from '../memory-store/page.ts'
import { MemoryPassages } from '../passages/memory-passages.ts'
import { MemoryRecordings } from '../recordings/memory-recordings.ts'
import { MemoryRollouts } from '../rollouts/memory-rollouts.ts'

/** The parts of the memory store that are erased with its sessions. `memoryStore()` loads them with their first use. */
export class MemoryParts implements LateParts {
  readonly pageOf = pageOf
  readonly recordings: MemoryRecordings
  readonly feedback = new MemoryFeedback()
  readonly rollouts: MemoryRollouts
  readonly passages: MemoryPassages

  constructor(clock: Clock, sessions: MemorySessions) {
    this.passages = new MemoryPassages(sessions)
    this.recordings = new MemoryRecordings(clock)
    this.rollouts = new MemoryRollouts(clock)
  }

  /** Deletes the data of a session, an owner or a tenant, and rejects those of runs that began by then. */
  erase(scope: EventScope, at: number): void {
    for (const part of [this.recordings, this.feedback, this.rollouts, this.passages]) part.erase(scope, at)
  }

  /** Deletes the data of a session. */
  forget(key: SessionKey): void {
    for (const part of [this.recordings, this.feedback]) part.forget(key)
  }

  /** Moves the data of a session whose agent was renamed. */
  move(from: SessionKey, to: SessionKey): void {
    for (const part of [this.recordings, this.feedback]) part.move(from, to)
  }
}
