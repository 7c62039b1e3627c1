import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { AuditSink } from './sink.ts'

export interface AuditFileOptions {
  /** Waits until each record is on disk, so that a power failure loses none. @default true */
  fsync?: boolean | undefined
  /** The permissions of a new file. @default 0o600, its owner only */
  mode?: number | undefined
  /** @default node:fs/promises */
  fs?: AuditFs | undefined
}

const optionKeys: KeysOf<AuditFileOptions> = { fsync: true, mode: true, fs: true }

/** The part of `node:fs/promises` that a sink uses. */
export interface AuditFs {
  open(path: string, flags: string, mode?: number): Promise<AuditFileHandle>
}
export interface AuditFileHandle {
  stat(): Promise<{ size: number }>
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  appendFile(data: string): Promise<unknown>
  truncate(length: number): Promise<unknown>
  datasync(): Promise<unknown>
  readLines(): AsyncIterable<string>
  close(): Promise<unknown>
}

export interface AuditFile extends AuditSink {
  /** Returns `'known'` for a record whose key was among the last ones in the file when it was opened. */
  append(line: string, key?: string): Promise<'known' | undefined>
  last(): Promise<string | undefined>
  /** All records, for `verify`. */
  lines(): AsyncIterable<string>
  close(): Promise<void>
}

/**
 * A file of audit records, one per line, for one process at a time. An incomplete record after a crash was never confirmed, so it is
 * removed when the file is opened again.
 *
 * @example
 * agent.use(observe.audit({ sink: observe.auditFile('audit.jsonl') }))
 */
export function auditFile(path: string, options: AuditFileOptions = {}): AuditFile {
  checkOptions(options, optionKeys, 'auditFile()', 'options.invalid')
  const { fsync = true, mode = 0o600, fs = nodeFs() } = options
  let opening: Promise<AuditFileHandle> | undefined
  /** The position of the next record. */
  let end = 0
  /** Keys of the last records when the file was opened. A run whose process died may write these records again. */
  let knownKeys: ReadonlySet<string> = new Set()

  return {
    async append(line, key) {
      const file = await open()
      if (key !== undefined && knownKeys.has(key)) return 'known'
      const text = `${line}\n`
      try {
        await file.appendFile(text)
        if (fsync) await file.datasync()
      } catch (error) {
        await file.truncate(end).catch(() => {})
        throw error
      }
      end += new TextEncoder().encode(text).length
      return undefined
    },
    async last() {
      const file = await open()
      return end === 0 ? undefined : await lineBefore(file, end - 1)
    },
    async *lines() {
      const file = await fs.open(path, 'r')
      try {
        yield* file.readLines()
      } finally {
        await file.close().catch(() => {})
      }
    },
    async close() {
      const file = await opening
      opening = undefined
      await file?.close()
    },
  }

  function open(): Promise<AuditFileHandle> {
    if (opening === undefined) {
      opening = openFile()
      opening.catch(() => (opening = undefined))
    }
    return opening
  }

  async function openFile(): Promise<AuditFileHandle> {
    const file = await fs.open(path, 'a+', mode)
    end = await truncateAfterLast(file)
    knownKeys = await keysBefore(file, end)
    return file
  }
}

const blockSize = 65_536
/** How many bytes are read to find the last keys: some thousand records. */
const tailBytes = 1_048_576
const lineFeed = 10

/** Truncates a file after its last complete record, and returns its new size. */
async function truncateAfterLast(file: AuditFileHandle): Promise<number> {
  const { size } = await file.stat()
  const end = (await lastBreak(file, size)) + 1
  if (end < size) await file.truncate(end)
  return end
}

/** Returns the line that ends at a position. */
async function lineBefore(file: AuditFileHandle, end: number): Promise<string> {
  return new TextDecoder().decode(await read(file, (await lastBreak(file, end)) + 1, end))
}

/** Returns the keys of the records that end before a position. */
async function keysBefore(file: AuditFileHandle, end: number): Promise<Set<string>> {
  const tail = new TextDecoder().decode(await read(file, Math.max(0, end - tailBytes), end))
  const keys = tail.matchAll(/^\{"seq":\d+,"key":"([0-9a-f]+)"/gm)
  return new Set([...keys].map(([, key]) => key as string))
}

/** Returns the position of the last line break before a position; -1 if there is none. */
async function lastBreak(file: AuditFileHandle, before: number): Promise<number> {
  for (let until = before; until > 0; until -= blockSize) {
    const start = Math.max(0, until - blockSize)
    const at = (await read(file, start, until)).lastIndexOf(lineFeed)
    if (at >= 0) return start + at
  }
  return -1
}

async function read(file: AuditFileHandle, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start)
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, offset, bytes.length - offset, start + offset)
    if (bytesRead === 0) throw new Error('The audit file was truncated while it was read.')
    offset += bytesRead
  }
  return bytes
}

/** Loaded at run time, so that the package works in runtimes without files. */
function nodeFs(): AuditFs {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs/promises')
  if (fs === undefined) throw new TypeError('This runtime has no file system. Pass a sink, or an fs to auditFile().')
  return fs as unknown as AuditFs // its overloads are wider
}
