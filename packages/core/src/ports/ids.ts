import { nanoid } from 'nanoid'

/** Makes unique ids. A session calls it once, and numbers its turns from that id. */
export type Ids = () => string

export const randomIds: Ids = () => {
  const id = nanoid()
  // nanoid appends one character at a time. Reading one makes V8 flatten the string, whose nested pieces take 250 bytes.
  id.charCodeAt(0)
  return id
}
