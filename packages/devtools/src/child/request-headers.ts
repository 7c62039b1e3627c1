import { principalHeader } from '../messages.ts'

/** The principal of a request that names none. */
const developer = { userId: 'developer' }

/** Returns the principal that the request names as JSON. Invalid JSON names none, so the server answers 401. */
export function principalOf({ headers }: Request): unknown {
  const text = headers.get(principalHeader)
  return text === null ? developer : JSON.parse(decodeURIComponent(text))
}
