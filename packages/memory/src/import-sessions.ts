import { AlliumError, fromJson, type Lease, messageOf, type SessionKey } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import type { ExportedTurn } from './export-sessions.ts'

export interface ImportOptions {
  /** The new tenant of the sessions. @default their old tenant */
  tenant?: string | undefined
  /**
   * Whether the records of turns go into the outbox again, for an old store whose outbox was not fully processed.
   * @default false
   */
  records?: boolean | undefined
}

const optionKeys: KeysOf<ImportOptions> = { tenant: true, records: true }

/** How long the lease of a session lasts for one of its turns, in milliseconds. */
const leaseDuration = 30_000

/**
 * Stores the lines that `exportSessions` produced, in this store or another one. It skips turns that already exist, so an interrupted
 * import can be repeated.
 *
 * @param lines in export order; empty lines are skipped
 * @returns the number of turns in the lines
 * @throws AlliumError `store.corrupt` for a line that is not part of an export, `session.busy` when a session is in use,
 * `store.conflict` when a session has continued differently
 *
 * @example
 * await importSessions(store.sessions, readline.createInterface({ input: file }))
 */
export async function importSessions(
  store: SessionStore,
  lines: Iterable<string> | AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<number> {
  checkOptions(options, optionKeys, 'importSessions()', 'options.invalid')
  const { tenant, records = false } = options
  let turns = 0
  for await (const exported of parseLines(lines)) {
    const key = tenant === undefined ? exported.key : { ...exported.key, tenant }
    const turn = records ? exported.turn : { ...exported.turn, records: [] }
    await storeTurn(store, { ...exported, key, turn })
    turns++
  }
  return turns
}

async function* parseLines(lines: Iterable<string> | AsyncIterable<string>): AsyncGenerator<ExportedTurn> {
  let line = 0
  for await (const text of lines) {
    line++
    if (text.trim() !== '') yield parseLine(text, line)
  }
}

async function storeTurn(store: SessionStore, { key, version, turn }: ExportedTurn): Promise<void> {
  const lease = await acquireLease(store, key)
  try {
    if (version !== undefined) return await store.append(lease, version - 1, turn, { release: true })
    const existing = await store.find(key, { turnId: turn.turnId })
    if (existing === undefined) await store.checkpoint(lease, lease.version, turn)
  } finally {
    await store.release(lease)
  }
}

async function acquireLease(store: SessionStore, key: SessionKey): Promise<Lease> {
  const { lease, heldUntil } = await store.acquire(key, leaseDuration)
  if (lease !== undefined) return lease
  throw new AlliumError(
    'session.busy',
    `The session "${key.sessionId}" is in use until ${new Date(heldUntil).toISOString()}. Import it again then. Turns that are already stored are skipped.`,
    { details: { heldUntil } },
  )
}

function parseLine(text: string, line: number): ExportedTurn {
  try {
    const value = fromJson(text) as Partial<ExportedTurn> | null
    if (value?.allium === 1 && value.key?.agent !== undefined && value.turn !== undefined) return value as ExportedTurn
    throw new TypeError('it has no session in this version of the format.')
  } catch (cause) {
    throw new AlliumError(
      'store.corrupt',
      `Line ${line} is not part of an export: ${messageOf(cause)} The lines before it are stored.`,
      { cause, details: { line } },
    )
  }
}
