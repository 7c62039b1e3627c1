import { AlliumError, type Clock, type SessionKey, type Writer } from '@allium/core'
import type {
  EventScope,
  Page,
  Recording,
  RecordingInfo,
  RecordingQuery,
  RecordingSizes,
  RecordingStore,
  RunKey,
} from '@allium/store'
import { pageOf, sortable } from '../memory-store/page.ts'
import { nameOfParts, RunRows } from '../memory-store/run-rows.ts'
import { checkRecordedRun, checkRecording, checkRecordingQuery } from './check-recording.ts'

type Kept = Recording & { readonly bytes: number; readonly n: number }

/** The recordings of the memory store. */
export class MemoryRecordings implements RecordingStore {
  readonly sealed = false
  readonly #clock: Clock
  readonly #kept = new RunRows<Kept>(nameOf)
  #lastN = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async add(recording: Recording, by?: Writer): Promise<void> {
    const { encoded, ...checked } = checkRecording(recording)
    if (by !== undefined && this.#kept.isErasedSince(checked.key, by.since)) throw erasedDuringRun(checked)
    this.#prune()
    const name = nameOf(checked)
    this.#kept.set({ ...checked, bytes: encoded.length, n: this.#kept.get(name)?.n ?? ++this.#lastN })
  }

  async get(run: RunKey): Promise<Recording | undefined> {
    const kept = this.#kept.get(nameOf(checkRecordedRun(run)))
    if (kept === undefined || this.#isExpired(kept)) return undefined
    const { bytes: _, n: __, ...recording } = kept
    return { ...recording, key: { ...recording.key } }
  }

  async list(query: RecordingQuery): Promise<Page<RecordingInfo>> {
    const { agent, tenant, since, until, isAscending, cursor, limit } = checkRecordingQuery(query)
    const found = [...this.#kept.values()].filter((kept) => {
      const isSelected = kept.key.agent === agent && (tenant ?? kept.key.tenant) === kept.key.tenant
      return isSelected && kept.startedAt >= since && kept.startedAt < until && !this.#isExpired(kept)
    })
    const sign = isAscending ? 1 : -1
    const page = pageOf(found, ({ startedAt, n }) => [sign * startedAt, sortable(sign * n)], { cursor, limit })
    return { ...page, items: page.items.map(infoOf) }
  }

  async sizes(): Promise<RecordingSizes[]> {
    const byTenant = new Map<string, RecordingSizes>()
    for (const { key, bytes, startedAt } of this.#kept.values()) {
      const { tenant } = key
      const sum = byTenant.get(tenant) ?? { tenant, count: 0, bytes: 0, oldestAt: startedAt }
      const oldestAt = Math.min(sum.oldestAt, startedAt)
      byTenant.set(tenant, { tenant, count: sum.count + 1, bytes: sum.bytes + bytes, oldestAt })
    }
    return [...byTenant.values()].toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1))
  }

  async prune(): Promise<number> {
    return this.#prune()
  }

  /** Deletes the recordings of a session, an owner or a tenant, and rejects those of runs that began by then. */
  erase(scope: EventScope, at: number): void {
    this.#kept.erase(scope, at)
  }

  /** Deletes the recordings of a session, an owner or a tenant. */
  forget(scope: EventScope): void {
    this.#kept.forget(scope)
  }

  /** Moves the recordings of a session whose agent was renamed. */
  move(from: SessionKey, to: SessionKey): void {
    this.#kept.move(from, to)
  }

  #prune(): number {
    return this.#kept.delete((kept) => this.#isExpired(kept))
  }

  #isExpired({ expiresAt }: Kept): boolean {
    return expiresAt <= this.#clock.now()
  }
}

function erasedDuringRun({ turnId }: RunKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The data of the owner or session was erased while the turn "${turnId}" was active. Its recording was not stored.`,
  )
}

function infoOf({ key, turnId, startedAt, expiresAt, bytes }: Kept): RecordingInfo {
  return { key: { ...key }, turnId, startedAt, expiresAt, bytes }
}

function nameOf({ key, turnId }: RunKey): string {
  return nameOfParts(key, turnId)
}
