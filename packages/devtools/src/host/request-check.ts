import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface RequestCheckOptions {
  /** The random token of this inspector. */
  readonly token: string
  readonly port: number
}

/** Whether a request may pass, or the reason why it may not. */
export type Admission =
  | { readonly admitted: true; readonly setsCookie: boolean; readonly pathname: string }
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
  const target = request.url ?? '/'
  if (!URL.canParse(target, 'http://localhost')) return rejected(400, 'The target of the request is not a valid URL.')
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  const given = searchParams.get('token')
  if (given !== null && request.method === 'GET' && isEqual(given, token))
    return { admitted: true, setsCookie: true, pathname }
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  const secrets = bearer === undefined ? cookiesOf(headers.cookie, cookieName(port)) : [bearer]
  if (secrets.some((secret) => isEqual(secret, token))) return { admitted: true, setsCookie: false, pathname }
  return rejected(401, 'Open the address that "allium dev" printed: it has the token.')
}

/** Cookies do not belong to a port, so the name has it. */
export function cookieName(port: number): string {
  return `allium-dev-${port}`
}

/** Returns all values, because a page on another port can set a cookie of this name for another path. */
function cookiesOf(header: string | undefined, name: string): string[] {
  const pairs = header?.split('; ') ?? []
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

function isEqual(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function rejected(status: number, reason: string): Admission {
  return { admitted: false, status, reason }
}
