import type { AlliumError, Message, Part, SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { requestError } from '../http/problem.ts'
import { endOfHistory } from '../request/read-history.ts'
import { contentHash, type File, isEmbedded, withData } from '../sessions/files.ts'
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

/** Returns the messages with a view in place of each file. Reads one file at a time. */
export async function withFileViews(messages: readonly Message[]): Promise<Message[]> {
  const views: Message[] = []
  for (const message of messages) views.push({ ...message, content: await contentView(message.content) } as Message)
  return views
}

async function contentView(content: unknown): Promise<unknown> {
  if (filesIn(content).length === 0) return content
  const views: unknown[] = []
  for (const part of content as Part[]) views.push(await viewOf(part))
  return views
}

/** Returns the file of a history whose data has this SHA-256. */
async function findFile(history: readonly Message[], hash: string): Promise<File | undefined> {
  for (const { content } of history)
    for (const unread of filesIn(content)) {
      const file = await withData(unread)
      if ((await contentHash(file)) === hash) return file
    }
  return undefined
}

/** Returns the file of a session whose data has this SHA-256. Reads one file at a time, the newest run first. */
export async function findStoredFile(
  sessions: Pick<SessionStore, 'history'>,
  key: SessionKey,
  hash: string,
): Promise<File | undefined> {
  for (let before = endOfHistory; before > 0; ) {
    const turns = await sessions.history(key, { before, limit: 100 })
    for (const { messages } of turns) {
      const file = await findFile(messages, hash)
      if (file !== undefined) return file
    }
    before = Math.min(...turns.filter(({ version }) => version !== undefined).map(({ from }) => from), before - 1)
    if (turns.every(({ version }) => version === undefined)) return undefined
  }
  return undefined
}

export function fileNotFound({ id, file }: { id: string; file: string }): AlliumError {
  return requestError('session.not_found', `The session ${JSON.stringify(id)} has no file ${JSON.stringify(file)}.`)
}

async function viewOf(part: Part): Promise<unknown> {
  if (isFile(part)) return fileView(part)
  return part.type === 'tool-result' ? { ...part, content: await contentView(part.content) } : part
}

async function fileView(file: File): Promise<FileView> {
  const { data, ...rest } = await withData(file)
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
