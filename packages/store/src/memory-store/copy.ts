import type { Message, Part } from '@allium/core'
import { isBlob, StoredFile } from '../blob.ts'

/** Returns messages whose large files are copied only when they are read. `ownCopy` copies the rest. */
export function withoutFiles(messages: readonly Message[]): Message[] {
  return messages.map((message) => ({ ...message, content: unread(message.content) }) as Message)
}

function unread(content: string | readonly Part[]): string | Part[] {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'tool-result') return { ...part, content: unread(part.content) } as Part
    if ((part.type !== 'image' && part.type !== 'file') || !isBlob(part.data)) return part
    const { data } = part
    return { ...part, data: new StoredFile(async () => ownCopy(data)) }
  })
}

/** Copies a value deeply, including bytes. Shares URLs, which are treated as immutable. */
export function ownCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof URL) return value
  if (value instanceof Uint8Array) return value.slice() as T
  if (Array.isArray(value)) return value.map(ownCopy) as T
  if (value instanceof Date) return new Date(value) as T
  if (value instanceof Map) return new Map([...value].map(ownCopy) as [unknown, unknown][]) as T
  if (value instanceof Set) return new Set([...value].map(ownCopy)) as T
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ownCopy(item)])) as T
}
