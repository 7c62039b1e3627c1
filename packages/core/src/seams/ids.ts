import { nanoid } from 'nanoid'

/** Makes unique ids. A session asks once; its turns are counted from there. */
export type Ids = () => string

export const randomIds: Ids = () => {
  const id = nanoid()
  // nanoid adds one character after the other: looking at one makes V8 join the nested pieces, which are 250 bytes.
  id.charCodeAt(0)
  return id
}
