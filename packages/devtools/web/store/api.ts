/** A principal and a runtime context, with which a request is made. */
export interface Identity {
  principal: unknown
  context?: unknown
}

/** An error response of the server. */
class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Calls a route of the agent's server as a principal. @throws ApiError */
export async function api<T>(path: string, identity: Identity | undefined, body?: object): Promise<T> {
  const response = await fetch(`/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...identityHeaders(identity), accept: 'application/json', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as T
  throw errorOf(response.status, text)
}

/** Loads a file as a principal. @throws ApiError */
export async function requestFile(path: string, identity: Identity | undefined): Promise<Blob> {
  const response = await fetch(`/api${path}`, { headers: identityHeaders(identity) })
  if (response.ok) return response.blob()
  throw errorOf(response.status, await response.text())
}

export function identityHeaders(identity: Identity | undefined): Record<string, string> {
  if (identity === undefined) return {}
  const { principal, context } = identity
  return {
    'allium-principal': encodeURIComponent(JSON.stringify(principal)),
    ...(context !== undefined && { 'allium-context': encodeURIComponent(JSON.stringify(context)) }),
  }
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { code, message } = JSON.parse(text) as { code: string; message: string }
    return new ApiError(code, message)
  } catch {
    return new ApiError(`http.${status}`, text || `The server answered ${status}.`)
  }
}
