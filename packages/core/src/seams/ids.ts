import { nanoid } from 'nanoid'

/** Makes unique ids. A session asks once; its turns are counted from there. */
export type Ids = () => string

export const randomIds: Ids = () => nanoid()
