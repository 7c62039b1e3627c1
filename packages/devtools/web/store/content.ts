import type { FileView } from '@allium/server/inspect'
import type { StoredMessage, StoredPart } from './sessions.ts'

export function partsOf({ content }: Pick<StoredMessage, 'content'>): readonly StoredPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** Whether a part is an image or a file that the server can serve. */
export function isFile(part: StoredPart): part is StoredPart & FileView {
  return (part.type === 'image' || part.type === 'file') && part.file !== undefined && part.mediaType !== undefined
}

export function filesOf(message: Pick<StoredMessage, 'content'>): FileView[] {
  return partsOf(message).filter(isFile)
}

/** Returns the text of a message. Parts other than texts and files are named. */
export function textOf(message: Pick<StoredMessage, 'content'>): string {
  return partsOf(message)
    .filter((part) => !isFile(part))
    .map(({ type, text, mediaType }) => (type === 'text' ? text : `[${type} ${mediaType ?? ''}]`))
    .join('\n')
}
