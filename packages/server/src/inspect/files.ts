import type { AlliumError, Message, Part } from '@allium/core'
import { requestError } from '../http/problem.ts'
import { contentHash, type File, isEmbedded } from '../native/files.ts'
import { byteCount } from './plain-json.ts'

/** An image or a file of a message, without its bytes. `GET /inspect/sessions/:id/files/:file` returns these. */
export interface FileView {
  type: 'image' | 'file'
  mediaType: string
  filename?: string
  bytes: number
  /** The SHA-256 of the data. */
  file: string
}

/** Whether messages have images or files with their bytes. */
export function haveFiles(messages: readonly Message[]): boolean {
  return messages.some(({ content }) => filesIn(content).length > 0)
}

/** Returns the messages with a view in place of each file. */
export async function withFileViews(messages: readonly Message[]): Promise<Message[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (filesIn(message.content).length === 0) return message
      return { ...message, content: await Promise.all((message.content as Part[]).map(viewOf)) } as Message
    }),
  )
}

/** Returns the file of a history whose data has this SHA-256. */
export async function findFile(history: readonly Message[], hash: string): Promise<File | undefined> {
  for (const { content } of history)
    for (const file of filesIn(content)) if ((await contentHash(file)) === hash) return file
  return undefined
}

export function fileNotFound({ id, file }: { id: string; file: string }): AlliumError {
  return requestError('session.not_found', `The session ${JSON.stringify(id)} has no file ${JSON.stringify(file)}.`)
}

async function viewOf(part: Part): Promise<unknown> {
  if (isFile(part)) return fileView(part)
  if (part.type !== 'tool-result' || filesIn(part.content).length === 0) return part
  return { ...part, content: await Promise.all((part.content as Part[]).map(viewOf)) }
}

async function fileView({ data, ...rest }: File): Promise<FileView> {
  const bytes = data instanceof Uint8Array ? data.byteLength : byteCount(String(data))
  return { ...rest, bytes, file: await contentHash({ ...rest, data } as File) }
}

/** Returns the files of a content, also those in the results of tools. */
function filesIn(content: unknown): File[] {
  if (!Array.isArray(content)) return []
  return (content as Part[]).flatMap((part) =>
    part.type === 'tool-result' ? filesIn(part.content) : isFile(part) ? [part] : [],
  )
}

function isFile(part: Part): part is File {
  return (part.type === 'image' || part.type === 'file') && isEmbedded(part)
}
