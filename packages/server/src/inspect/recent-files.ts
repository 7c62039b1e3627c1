import type { Message, SessionKey } from '@allium/core'
import type { File } from '../native/files.ts'
import { findFile } from './files.ts'

/** Most characters of the files in memory. */
const maxSize = 32 * 1_048_576

/** The files that models made last. The store has them only after the model call. */
export class RecentFiles {
  #files: { readonly session: string; readonly file: File; readonly size: number }[] = []
  #size = 0

  add(key: SessionKey, file: File): void {
    const size = file.data instanceof Uint8Array ? file.data.byteLength : String(file.data).length
    this.#size += size
    this.#files.push({ session: sessionOf(key), file, size })
    while (this.#size > maxSize) this.#size -= this.#files.shift()?.size ?? 0
  }

  /** Returns the file of a session whose data has this SHA-256. */
  find(key: SessionKey, hash: string): Promise<File | undefined> {
    const files = this.#files.filter(({ session }) => session === sessionOf(key)).map(({ file }) => file)
    return findFile([{ role: 'assistant', content: files } as unknown as Message], hash)
  }
}

function sessionOf({ agent, tenant, owner, sessionId }: SessionKey): string {
  return JSON.stringify([agent, tenant, owner, sessionId])
}
