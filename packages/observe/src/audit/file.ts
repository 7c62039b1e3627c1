import { checkOptions, type KeysOf } from '@allium/core'
import type { AuditSink } from './sink.ts'

export interface AuditFileOptions {
  /** Waits with each record until it has reached the disk, so that a power cut loses none. @default true */
  fsync?: boolean | undefined
  /** The permissions of a new file. @default 0o600, its owner alone */
  mode?: number | undefined
  /** @default node:fs/promises */
  fs?: AuditFs | undefined
}

const optionKeys: KeysOf<AuditFileOptions> = { fsync: true, mode: true, fs: true }

/** What a sink needs of `node:fs/promises`. */
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
  /** Gives `'known'` for a record whose key is among those that the file ended with when it was opened. */
  append(line: string, key?: string): Promise<'known' | undefined>
  last(): Promise<string | undefined>
  /** All records, for `verify`. */
  lines(): AsyncIterable<string>
  close(): Promise<void>
}

/**
 * A file of audit records, one a line, for one process at a time. A record that a crash has cut in two was never
 * confirmed: it is taken off when the file is opened again.
 *
 * @example
 * agent.use(observe.audit({ sink: observe.auditFile('audit.jsonl') }))
 */
export function auditFile(path: string, options: AuditFileOptions = {}): AuditFile {
  checkOptions(options, optionKeys, 'auditFile()', 'options.invalid')
  const { fsync = true, mode = 0o600, fs = nodeFs() } = options
  let opening: Promise<AuditFileHandle> | undefined
  /** Where the next record begins. */
  let end = 0
  /** Of the last records that were there when it was opened: those whose process died may be written again. */
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

  /** Finds the end of the last whole record, and takes off what stands behind it. */
  async function openFile(): Promise<AuditFileHandle> {
    const file = await fs.open(path, 'a+', mode)
    const { size } = await file.stat()
    end = (await lastBreak(file, size)) + 1
    if (end < size) await file.truncate(end)
    knownKeys = await keysBefore(file, end)
    return file
  }
}

const blockSize = 65_536
/** How much of a file is read for its last keys: some thousand records. */
const tailBytes = 1_048_576
const lineFeed = 10

/** The line that ends at a place. */
async function lineBefore(file: AuditFileHandle, end: number): Promise<string> {
  const start = (await lastBreak(file, end)) + 1
  const bytes = new Uint8Array(end - start)
  await read(file, bytes, start)
  return new TextDecoder().decode(bytes)
}

/** The keys of the records that end before a place. */
async function keysBefore(file: AuditFileHandle, end: number): Promise<Set<string>> {
  const start = Math.max(0, end - tailBytes)
  const bytes = new Uint8Array(end - start)
  await read(file, bytes, start)
  const keys = new TextDecoder().decode(bytes).matchAll(/^\{"seq":\d+,"key":"([0-9a-f]+)"/gm)
  return new Set([...keys].map(([, key]) => key as string))
}

/** Where the last line break before a place stands; -1 where there is none. */
async function lastBreak(file: AuditFileHandle, before: number): Promise<number> {
  for (let until = before; until > 0; until -= blockSize) {
    const start = Math.max(0, until - blockSize)
    const bytes = new Uint8Array(until - start)
    await read(file, bytes, start)
    const at = bytes.lastIndexOf(lineFeed)
    if (at >= 0) return start + at
  }
  return -1
}

async function read(file: AuditFileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, offset, bytes.length - offset, position + offset)
    if (bytesRead === 0) throw new Error('The audit file became shorter while it was read.')
    offset += bytesRead
  }
}

/** Not imported, so that the package loads where there are no files. */
function nodeFs(): AuditFs {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs/promises')
  if (fs === undefined)
    throw new TypeError('There are no files here. Give audit() a sink of your own, or auditFile() an fs.')
  return fs as unknown as AuditFs // its overloads are wider
}
