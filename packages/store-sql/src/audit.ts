import { createHash } from 'node:crypto'
import { AlliumError, messageOf } from '@allium/core'
import type { EncryptionContext } from './encryption.ts'
import { checkName } from './key.ts'
import { corrupt, type Sealer } from './sealer.ts'

/** The store of `observe.audit`, with a chain for each tenant. */
export interface AuditStore {
  /** Returns the chain of a tenant; `''` for records without a tenant. */
  chainOf(tenant: string): AuditChain
}

/** The records of a tenant. */
export interface AuditChain {
  /**
   * Appends a record. Returns `'known'` if the chain has a record with this key.
   *
   * @param key identifies the record if its run is restarted
   * @throws AlliumError `store.conflict` when another process has appended; continue the chain from `last()`
   */
  append(line: string, key?: string): Promise<'known' | undefined>
  /**
   * Appends records in their order, all or none. Returns the keys that the chain already has: if there are any, it appends nothing.
   *
   * @throws AlliumError `store.conflict` when another process has appended; continue the chain from `last()`
   */
  appendAll(records: readonly ChainRecord[]): Promise<readonly string[]>
  last(): Promise<string | undefined>
  /** All records, for `observe.verify`. */
  lines(): AsyncIterable<string>
  /**
   * Checks the sealed bytes against their stored digests, each of which includes the previous one. Works even after the tenant's key
   * was deleted.
   */
  verifySealed(): Promise<{ ok: boolean; records: number }>
}

/** A record of the chain. `key` identifies it if its run is restarted. */
export interface ChainRecord {
  readonly line: string
  readonly key?: string | undefined
}

/** A record as a row. `digest` covers the sealed bytes and the previous digest. */
export interface AuditRow {
  readonly seq: number
  readonly body: Uint8Array
  readonly digest: Uint8Array
  /** Unique among the tenant's records. */
  readonly key?: string | undefined
}

/** The database operations of an audit. */
export interface AuditTable {
  /** Adds all rows, or none: returns the keys that other records have, or else `taken` if a record has one of these numbers. */
  add(tenant: string, rows: readonly AuditRow[]): Promise<'added' | 'taken' | readonly string[]>
  last(tenant: string): Promise<AuditRow | undefined>
  /** Returns some rows at a time, in order. */
  after(tenant: string, seq: number): Promise<AuditRow[]>
}

export function auditStore(table: AuditTable, sealer: Sealer): AuditStore {
  return {
    chainOf(tenantName) {
      const tenant = checkName('tenant', tenantName)
      const open = async ({ seq, body }: AuditRow) => String(await sealer.open(body, recordContext(tenant, seq)))
      const appendAll = async (lines: readonly ChainRecord[]) => {
        const seqs = lines.map(({ line }) => parseSeq(tenant, line))
        const [first = 1] = seqs
        const last = await table.last(tenant)
        const isNext = (last?.seq ?? 0) === first - 1 && seqs.every((seq, i) => seq === first + i)
        if (!isNext) throw sequenceTaken(tenant, first)
        const rows: AuditRow[] = []
        for (const [i, { line, key }] of lines.entries()) {
          if (key !== undefined) checkName('key of a record', key)
          const seq = first + i
          const body = await sealer.seal(line, recordContext(tenant, seq))
          rows.push({ seq, body, digest: chainDigest((rows.at(-1) ?? last)?.digest, body), key })
        }
        const added = await table.add(tenant, rows)
        if (added === 'taken') throw sequenceTaken(tenant, first)
        return added === 'added' ? [] : added
      }
      return {
        async append(line, key) {
          return (await appendAll([{ line, key }])).length > 0 ? 'known' : undefined
        },
        appendAll,
        async last() {
          const row = await table.last(tenant)
          return row && (await open(row))
        },
        async *lines() {
          for await (const row of rowsOf(table, tenant)) yield await open(row)
        },
        async verifySealed() {
          let records = 0
          let previousDigest: Uint8Array | undefined
          for await (const { seq, body, digest } of rowsOf(table, tenant)) {
            if (seq !== records + 1 || Buffer.compare(chainDigest(previousDigest, body), digest) !== 0)
              return { ok: false, records }
            previousDigest = digest
            records++
          }
          return { ok: true, records }
        },
      }
    },
  }
}

async function* rowsOf(table: AuditTable, tenant: string): AsyncGenerator<AuditRow> {
  for (let seq = 0; ; ) {
    const rows = await table.after(tenant, seq)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    seq = last.seq
  }
}

function recordContext(tenant: string, seq: number): EncryptionContext {
  return { tenant, row: JSON.stringify(['audit', seq]) }
}

function chainDigest(previousDigest: Uint8Array | undefined, body: Uint8Array): Uint8Array {
  return createHash('sha256')
    .update(previousDigest ?? '')
    .update(body)
    .digest()
}

/** Returns the position of a record in its chain. @throws AlliumError `store.corrupt` when the line is not a record */
function parseSeq(tenant: string, line: string): number {
  try {
    const { seq } = JSON.parse(line) as { seq?: unknown }
    if (Number.isSafeInteger(seq) && (seq as number) > 0) return seq as number
    throw new TypeError('it has no "seq" from 1 on.')
  } catch (cause) {
    throw corrupt({ tenant, row: `audit record (${messageOf(cause)})` }, cause)
  }
}

function sequenceTaken(tenant: string, seq: number): AlliumError {
  return new AlliumError(
    'store.conflict',
    `Record ${seq} was not added to the audit of the tenant "${tenant}", because another process has written to it. Read its last record, and continue from there.`,
    { details: { tenant, seq } },
  )
}
