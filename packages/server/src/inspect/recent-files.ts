import { contentHash, type File } from '../sessions/files.ts'
import type { RecordedRun } from './recorded-run.ts'

/** Most characters of the files in memory. */
const maxSize = 32 * 1_048_576

/** A file that a model made, and its run. */
export interface RecentFile {
  readonly run: RecordedRun
  readonly file: File
}

/** The files that models made last. The store has them only after the model call. */
export class RecentFiles {
  #files: (RecentFile & { readonly size: number })[] = []
  #size = 0

  add(run: RecordedRun, file: File): void {
    const size = file.data instanceof Uint8Array ? file.data.byteLength : String(file.data).length
    this.#size += size
    this.#files.push({ run, file, size })
    while (this.#size > maxSize) this.#size -= this.#files.shift()?.size ?? 0
  }

  /** Returns the file of a session whose data has this SHA-256. */
  async find(isOfSession: (run: RecordedRun) => boolean, hash: string): Promise<RecentFile | undefined> {
    for (const recent of this.#files)
      if (isOfSession(recent.run) && (await contentHash(recent.file)) === hash) return recent
    return undefined
  }

  forget(isDeleted: (run: RecordedRun) => boolean): void {
    this.#files = this.#files.filter(({ run }) => !isDeleted(run))
    this.#size = this.#files.reduce((sum, { size }) => sum + size, 0)
  }
}
