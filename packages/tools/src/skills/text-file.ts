import { messageOf } from '@allium/core'
import { checkPath } from '@allium/shared/file-paths'
import { loadNode } from './node.ts'

/** The text of a file, or the problem with it, for a person or the model. It never has a path outside the folder. */
export type TextRead = { readonly text: string } | { readonly problem: string }

/** Reads a text file below a folder. A path that leads out of the folder, or to a link out of it, is a problem. */
export async function readText(root: string, path: string, maxBytes: number): Promise<TextRead> {
  try {
    const checked = await checkPath(path, { root, maxBytes })
    if ('problem' in checked) return checked
    const bytes = await readBytes(checked.path, maxBytes)
    if (typeof bytes === 'string') return { problem: bytes }
    const text = decode(bytes)
    return text === undefined ? { problem: 'is not text in UTF-8' } : { text }
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'ENOENT' || code === 'ENOTDIR') return { problem: 'does not exist' }
    return { problem: typeof code === 'string' ? `cannot be read (${code})` : messageOf(error) }
  }
}

/**
 * Reads a file that was checked before. Another process may have replaced it since, so a link is not followed, and its size and kind are
 * checked again on the open file.
 */
async function readBytes(path: string, maxBytes: number): Promise<Uint8Array | string> {
  const { fs } = loadNode()
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants
  const file = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return 'is no file'
    const buffer = new Uint8Array(maxBytes + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
      length += bytesRead
      if (length > maxBytes) return `is larger than ${maxBytes} bytes`
      if (bytesRead === 0) return buffer.subarray(0, length)
    }
  } finally {
    await file.close()
  }
}

function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
