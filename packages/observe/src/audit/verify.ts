import { checkOptions, type KeysOf } from '@allium/core'
import type { AuditHead } from './chain.ts'
import { auditFile } from './file.ts'
import { digestWith, genesis, parseSealedLine } from './seal.ts'

/** Records to check: the path of a file, a text of lines, the lines, or something that gives them, such as `auditFile(path)`. */
export type AuditSource =
  | string
  | Iterable<string>
  | AsyncIterable<string>
  | { lines(): Iterable<string> | AsyncIterable<string> }

export interface VerifyOptions {
  /** A head of this chain that was kept elsewhere. Without it nobody can tell whether the last records were cut off. */
  head?: AuditHead | undefined
  /** The head of the chain's part before, where this one does not begin with the first record. */
  after?: AuditHead | undefined
  /** What the chain was sealed with, if it was. */
  secret?: string | Uint8Array | undefined
}

const optionKeys: KeysOf<VerifyOptions> = { head: true, after: true, secret: true }

/**
 * Why a record is bad. `malformed`: no audit record. `edited`: it does not fit its own hash. `order`: it is not the one
 * that follows; one was removed, added, moved or replaced here. `missing`: the chain ends before its head.
 * `replaced`: another record stands where the head is.
 */
export type AuditFault = 'malformed' | 'edited' | 'order' | 'missing' | 'replaced'

export interface Verification {
  ok: boolean
  /** The records that are good, from the first on. */
  records: number
  /** The first that is not: its line, counted from 1. */
  firstBad?: { line: number; reason: AuditFault }
  /** The last good record. */
  head: AuditHead
}

/**
 * Checks a chain of audit records, and names the first bad one. It reads one line at a time.
 *
 * Who can write the file can write a whole new chain, unless it was sealed with a `secret`; give a `head` that was
 * kept elsewhere to see that, and to see a cut tail.
 *
 * @example
 * const { ok, firstBad } = await observe.verify('audit.jsonl', { head })
 */
export async function verify(source: AuditSource, options: VerifyOptions = {}): Promise<Verification> {
  checkOptions(options, optionKeys, 'verify()', 'options.invalid')
  const { head, after = { seq: 0, hash: genesis }, secret } = options
  const digest = digestWith(secret)
  let previous = { seq: after.seq, hash: after.hash }
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

/** Records are objects, and no name of a file has line breaks. */
function isPath(text: string): boolean {
  return text !== '' && !text.startsWith('{') && !text.includes('\n')
}
