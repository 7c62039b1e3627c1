/** Calls a route of the inspector itself, not of the agent. @throws Error with the message of the inspector */
export async function devApi<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(`/dev${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const answer = (await response.json().catch(() => ({}))) as T & { message?: string }
  if (response.ok) return answer
  throw new Error(answer.message ?? `The inspector answered ${response.status}.`)
}
