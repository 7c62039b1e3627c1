import { requestError } from './problem.ts'

export interface OriginCheckOptions {
  readonly hosts: readonly string[] | undefined
  readonly origins: readonly string[]
  readonly trustProxy: boolean
}

/**
 * Rejects requests for another host, and requests by pages of another site.
 *
 * @throws AlliumError `request.host`, `request.origin`
 */
export function checkOrigin(request: Request, { hosts, origins, trustProxy }: OriginCheckOptions): void {
  const { headers } = request
  const forwarded = trustProxy ? headers.get('x-forwarded-host') : null
  const host = (forwarded ?? headers.get('host') ?? new URL(request.url).host).toLowerCase()
  if (hosts !== undefined && !hosts.some((name) => name.toLowerCase() === host))
    throw requestError(
      'request.host',
      'The server does not accept this host. To allow it, add it to the option `hosts` of server().',
    )
  const origin = headers.get('origin')
  const isCrossOrigin = origin !== null ? !origins.includes(origin) && hostOf(origin) !== host : isCrossSite(request)
  if (isCrossOrigin)
    throw requestError(
      'request.origin',
      'A page of another site sent this request. To allow it, add its origin to the option `origins` of server().',
    )
}

/** A link of another site may open a page of this one. Its forms may not post to it. */
function isCrossSite({ headers, method }: Request): boolean {
  const isLink = method === 'GET' && headers.get('sec-fetch-mode') === 'navigate'
  return headers.get('sec-fetch-site') === 'cross-site' && !isLink
}

/** Returns undefined for `null`, which files and sandboxed frames send. */
function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host
  } catch {
    return undefined
  }
}
