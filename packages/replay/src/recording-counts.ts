/** How many turns a recorder kept, and why it did not keep the others. */
export interface RecordingCounts {
  readonly recorded: number
  /** Turns that `skip` refused or that the sample left out. */
  readonly skipped: number
  /** Recordings that the store did not take. */
  readonly failed: number
  /** Recorded turns that cannot be replayed exactly, by reason. */
  readonly notReplayable: Readonly<Record<string, number>>
}

/** Counts the turns of a recorder. */
export class Counts implements RecordingCounts {
  recorded = 0
  skipped = 0
  failed = 0
  readonly notReplayable: Record<string, number> = {}

  add(reasons: readonly string[] = []): void {
    this.recorded++
    for (const reason of reasons) this.notReplayable[reason] = (this.notReplayable[reason] ?? 0) + 1
  }
}
