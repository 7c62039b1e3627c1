import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { EvalCase } from '@allium/evals'
import { DevError } from '../dev-error.ts'

/** The file of saved cases, in the folder of the project. */
const folder = 'evals'
const file = `${folder}/saved.cases.jsonl`

/** Most bytes of the file. A larger one is not read for duplicates. */
const maxBytes = 64 * 1_048_576

/** The answer for the page. */
interface SavedCase {
  readonly id: string
  readonly file: string
  /** The case is in the file already, so nothing was written. It is the case with the same input, principal and context. */
  readonly isDuplicate: boolean
}

/** The file of the cases that the page saves. */
export interface CaseFile {
  /** Appends a case. @throws DevError */
  save(given: unknown): Promise<SavedCase>
}

/** Appends cases to `evals/saved.cases.jsonl`, one after the other. */
export function caseFile(cwd: string): CaseFile {
  let queue: Promise<unknown> = Promise.resolve()
  return {
    save(given) {
      const saved = queue.then(() => saveCase(cwd, given))
      queue = saved.catch(() => {})
      return saved
    },
  }
}

async function saveCase(cwd: string, given: unknown): Promise<SavedCase> {
  const line = `${JSON.stringify(given)}\n`
  const one = await checked(line)
  const handle = await openFile(cwd)
  try {
    const known = await casesIn(handle)
    const same = known.cases.find((other) => isSame(one, other))
    if (same !== undefined) return { id: same.id ?? '', file, isDuplicate: true }
    if (known.cases.some(({ id }) => id === one.id))
      throw new DevError(409, `${file} has another case with the id "${one.id}". Choose another id.`)
    await append(handle, known.endsInLine ? line : `\n${line}`)
    return { id: one.id ?? '', file, isDuplicate: false }
  } finally {
    await handle.close()
  }
}

/** Checks a line as `allium eval` will read it. */
async function checked(line: string): Promise<EvalCase> {
  const { parseCases } = await import('@allium/evals')
  try {
    const [one] = parseCases(line, 'The case')
    if (one !== undefined && fieldOf(line, 'id') === one.id) return one
  } catch (error) {
    throw new DevError(422, (error as Error).message)
  }
  throw new DevError(422, 'The case has no id. Add the field "id", so that reports name it in the same way.')
}

function fieldOf(line: string, name: string): unknown {
  return (JSON.parse(line) as Record<string, unknown>)[name]
}

/** Opens the file, which is below the folder of the project also after all symbolic links. */
async function openFile(cwd: string): Promise<FileHandle> {
  await mkdir(join(cwd, folder), { recursive: true }).catch(() => {})
  const [root, real] = [await realpath(cwd), await realpath(join(cwd, folder)).catch(() => undefined)]
  if (real === undefined || relative(root, real) !== folder)
    throw new DevError(409, `${folder} is not a folder of the project, so no case is written there.`)
  const path = join(real, 'saved.cases.jsonl')
  const found = await lstat(path).catch(() => undefined)
  if (found !== undefined && !found.isFile())
    throw new DevError(409, `${file} is not a regular file, so no case is written to it.`)
  // Windows has no O_NOFOLLOW; the check above is all there.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
  return open(path, flags, 0o644)
}

async function casesIn(handle: FileHandle): Promise<{ cases: EvalCase[]; endsInLine: boolean }> {
  const { size } = await handle.stat()
  if (size > maxBytes) throw new DevError(409, `${file} has ${size} bytes. Move cases to another file first.`)
  const text = await handle.readFile('utf8')
  const { parseCases } = await import('@allium/evals')
  try {
    return { cases: parseCases(text, file), endsInLine: text === '' || text.endsWith('\n') }
  } catch (error) {
    throw new DevError(409, `${(error as Error).message} Correct it first.`)
  }
}

function isSame(a: EvalCase, b: EvalCase): boolean {
  return isDeepStrictEqual([a.input, a.principal, a.context], [b.input, b.principal, b.context])
}

/** Appends in one write, so that other programs append before or after it. A write that fails leaves the file as it was. */
async function append(handle: FileHandle, line: string): Promise<void> {
  const { size } = await handle.stat()
  const bytes = Buffer.from(line)
  try {
    const { bytesWritten } = await handle.write(bytes)
    if (bytesWritten < bytes.length) throw new Error('The disk took only a part of it.')
    await handle.sync()
  } catch (error) {
    await handle.truncate(size)
    throw new DevError(507, `The case was not written to ${file}: ${(error as Error).message}`)
  }
}
