import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A function of a request to a response, as a server on 127.0.0.1. */
export async function serveFetch(fetch: (request: Request) => Response | Promise<Response>) {
  const http = createServer(async (incoming, outgoing) => {
    const { status, headers, body } = await fetch(await requestOf(incoming))
    outgoing.writeHead(status, Object.fromEntries(headers))
    outgoing.flushHeaders()
    if (body === null) outgoing.end()
    // A client that leaves ends the stream.
    else await pipeline(Readable.fromWeb(body as never), outgoing).catch(() => {})
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, stop }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { method = 'GET', url = '/', headers } = incoming
  let body = ''
  for await (const chunk of incoming) body += chunk
  const given = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string])
  return new Request(`http://${headers.host}${url}`, { method, headers: given, ...(body !== '' && { body }) })
}
