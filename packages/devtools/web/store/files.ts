import type { FileView } from '@allium/server/inspect'
import { createContext } from 'preact'
import { type Identity, requestFile } from './api.ts'
import { type Attachment, base64Of, hashOf } from './attachments.ts'
import { dataUrl } from './read-file.ts'
import { pathOf, type SessionItem } from './sessions.ts'

/** Loads a file of the shown session as a data URL. */
export type LoadFile = (file: FileView) => Promise<string>

/** How the views load the files of the selected session. */
export const Files = createContext<LoadFile>(() => Promise.reject(new Error('No session is selected.')))

/** Most characters of the loaded files that the page keeps. */
const maxKept = 32 * 1_048_576

/** Loaded and sent files by hash, oldest first. A file that was just sent is not in the store yet. */
const kept = new Map<string, Promise<string>>()
const sizes = new Map<string, number>()

export function loadFile(item: SessionItem, identity: Identity, { file, mediaType }: FileView): Promise<string> {
  const known = kept.get(file)
  if (known !== undefined) return known
  const path = `${pathOf(item)}/files/${encodeURIComponent(file)}?owner=${encodeURIComponent(item.owner)}`
  const loaded = requestFile(path, identity).then((blob) => dataUrl(new Blob([blob], { type: mediaType })))
  keep(file, loaded)
  return loaded
}

/** Loads the files of a turn's input as attachments, to send or to save them. */
export function attachmentsOf(files: readonly FileView[], load: LoadFile): Promise<Attachment[]> {
  return Promise.all(
    files.map(async (file) => {
      const data = base64Of(await load(file))
      return { type: file.type, mediaType: file.mediaType, data, name: file.filename ?? 'file', bytes: file.bytes }
    }),
  )
}

/** Keeps the files of a message that the page sends. */
export async function keepSent(files: readonly Attachment[]): Promise<void> {
  for (const file of files) keep(await hashOf(file), Promise.resolve(`data:${file.mediaType};base64,${file.data}`))
}

function keep(hash: string, url: Promise<string>): void {
  kept.set(hash, url)
  url.then(
    (text) => {
      sizes.set(hash, text.length)
      let total = [...sizes.values()].reduce((sum, length) => sum + length, 0)
      for (const [oldest, length] of sizes) {
        if (total <= maxKept || oldest === hash) break
        kept.delete(oldest)
        sizes.delete(oldest)
        total -= length
      }
    },
    () => kept.delete(hash),
  )
}
