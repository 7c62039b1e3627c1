import { requestError } from '../http/problem.ts'
import { isPrintable } from '../request/fields.ts'

/**
 * Returns the id of a response, which encodes its session and run. It gives no access to runs of other owners, because the session is
 * looked up under the caller's key.
 */
export function responseId({ sessionId, turnId }: { sessionId: string; turnId: string }): string {
  const bytes = new TextEncoder().encode(JSON.stringify([sessionId, turnId]))
  return `resp_${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')}`
}

/** Returns undefined for an id that is not from `responseId()`. */
export function parseResponseId(id: string): { sessionId: string; turnId: string } | undefined {
  const [, encoded] = /^resp_([\w-]{1,2000})$/.exec(id) ?? []
  if (encoded === undefined) return undefined
  try {
    const bytes = Uint8Array.from(atob(encoded.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
    const [sessionId, turnId] = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown[]
    return isId(sessionId) && isId(turnId) ? { sessionId, turnId } : undefined
  } catch {
    return undefined
  }
}

/** Ids have no control characters, which databases cannot look up. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isPrintable(value)
}

export function responseNotFound(id: string) {
  return requestError('session.not_found', `You have no response ${JSON.stringify(id.slice(0, 200))}.`)
}
