import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface RequestCheckOptions {
  /** The random token of this inspector. */
  readonly token: string
  readonly port: number
}

/** Whether a request may pass, or the reason why it may not. */
export type Admission =
  | { readonly admitted: true; readonly setsCookie: boolean }
  | { readonly admitted: false; readonly status: number; readonly reason: string }

/**
 * Admits requests of the inspector's own page and of commands with the token. Other hosts are rejected because a site could point its
 * domain at 127.0.0.1, and other origins because their pages could use the cookie.
 */
export function checkRequest(request: IncomingMessage, { token, port }: RequestCheckOptions): Admission {
  const { headers } = request
  const host = headers.host ?? ''
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return rejected(421, `The inspector is at http://127.0.0.1:${port}, not at "${host}".`)
  if (headers.origin !== undefined && headers.origin !== `http://${host}`)
    return rejected(403, 'A page of another site may not call the inspector.')
  const site = headers['sec-fetch-site']
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && request.method === 'GET'
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation)
    return rejected(403, 'A page of another site may not call the inspector.')
  const given = new URL(request.url ?? '/', 'http://localhost').searchParams.get('token')
  if (given !== null && request.method === 'GET' && isEqual(given, token)) return { admitted: true, setsCookie: true }
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  if (isEqual(bearer ?? cookieOf(headers.cookie, cookieName(port)), token)) return { admitted: true, setsCookie: false }
  return rejected(401, 'Open the address that "allium dev" printed: it has the token.')
}

/** Cookies do not belong to a port, so the name has it. */
export function cookieName(port: number): string {
  return `allium-dev-${port}`
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split('; ') ?? []) if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1)
  return undefined
}

function isEqual(given: string | undefined, token: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function rejected(status: number, reason: string): Admission {
  return { admitted: false, status, reason }
}
