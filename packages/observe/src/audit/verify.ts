import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { AuditHead } from './chain.ts'
import { auditFile } from './file.ts'
import { digestWith, genesis, parseSealedLine } from './seal.ts'

/** The records to verify: the path of a file, a text of lines, the lines, or an object that yields them, such as `auditFile(path)`. */
export type AuditSource =
  | string
  | Iterable<string>
  | AsyncIterable<string>
  | { lines(): Iterable<string> | AsyncIterable<string> }

export interface VerifyOptions {
  /** A head of this chain that was stored elsewhere. Without it, removing the last records is not detected. */
  head?: AuditHead | undefined
  /** The head of the preceding part, if this chain does not begin with the first record. */
  after?: AuditHead | undefined
  /** The secret of the chain, if it has one. */
  secret?: string | Uint8Array | undefined
}

const optionKeys: KeysOf<VerifyOptions> = { head: true, after: true, secret: true }

/**
 * Why a record is bad. `malformed`: it is not an audit record. `edited`: it does not match its hash. `order`: it is not the next
 * record, because one was removed, added, moved or replaced. `missing`: the chain ends before the given head.
 * `replaced`: another record is at the position of the head.
 */
export type AuditFault = 'malformed' | 'edited' | 'order' | 'missing' | 'replaced'

export interface Verification {
  ok: boolean
  /** The number of valid records from the first on. */
  records: number
  /** The first bad record: its line, counted from 1. */
  firstBad?: { line: number; reason: AuditFault }
  /** The last valid record. */
  head: AuditHead
}

/**
 * Verifies a chain of audit records and reports the first bad one. It reads one line at a time.
 *
 * Anyone who can write the file can write a whole new chain, unless it was sealed with a `secret`. Pass a `head` that was stored
 * elsewhere to detect that, and to detect missing records at the end.
 *
 * @example
 * const { ok, firstBad } = await observe.verify('audit.jsonl', { head })
 */
export async function verify(source: AuditSource, options: VerifyOptions = {}): Promise<Verification> {
  checkOptions(options, optionKeys, 'verify()', 'options.invalid')
  const { head, after = { seq: 0, hash: genesis }, secret } = options
  const digest = digestWith(secret)
  let previous: AuditHead = after
  let records = 0
  const invalidAt = (reason: AuditFault): Verification => ({
    ok: false,
    records,
    firstBad: { line: records + 1, reason },
    head: previous,
  })
  for await (const line of readLines(source)) {
    const record = parseSealedLine(line)
    if (record === undefined) return invalidAt('malformed')
    if ((await digest(record.text)) !== record.hash) return invalidAt('edited')
    if (record.seq !== previous.seq + 1 || record.prev !== previous.hash) return invalidAt('order')
    if (record.seq === head?.seq && record.hash !== head.hash) return invalidAt('replaced')
    previous = { seq: record.seq, hash: record.hash }
    records++
  }
  if (head !== undefined && previous.seq < head.seq) return invalidAt('missing')
  return { ok: true, records, head: previous }
}

function readLines(source: AuditSource): Iterable<string> | AsyncIterable<string> {
  if (typeof source === 'string' && isPath(source)) return auditFile(source).lines()
  if (typeof source === 'string') return source === '' ? [] : source.replace(/\n$/, '').split('\n')
  return 'lines' in source ? source.lines() : source
}

/** Records are objects, and file names contain no line breaks. */
function isPath(text: string): boolean {
  return text !== '' && !text.startsWith('{') && !text.includes('\n')
}
