import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Proxy {
  url: string
  /** Which of the servers has answered the last request with this method, from 0 on. */
  last(method: string): number
  /** From now on requests with this method go to this server first. */
  pin(method: string, upstream: number): void
  close(): void
}

/** Distributes requests over the servers, like a load balancer, and skips those that do not respond. */
export async function roundRobin(upstreams: readonly string[]): Promise<Proxy> {
  let turn = 0
  const last = new Map<string, number>()
  const pinned = new Map<string, number>()
  const proxy = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    pass({ incoming, outgoing, body }, pinned.get(incoming.method ?? 'GET') ?? turn++, upstreams.length)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    last: (method) => last.get(method) ?? -1,
    pin: (method, upstream) => pinned.set(method, upstream),
    close() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }

  function pass(asked: Asked, at: number, tries: number): void {
    const { incoming, outgoing, body } = asked
    const { method = 'GET', headers, url } = incoming
    const which = at % upstreams.length
    const out = request(`${upstreams[which]}${url}`, { method, headers, agent: false }, (answer) => {
      last.set(method, which)
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders()
      answer.pipe(outgoing)
      answer.once('error', () => outgoing.destroy())
    })
    // Only a request that reached no server is sent to the next one.
    out.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED' && tries > 1) pass(asked, at + 1, tries - 1)
      else outgoing.destroy()
    })
    outgoing.once('close', () => out.destroy())
    out.end(body)
  }
}

interface Asked {
  incoming: IncomingMessage
  outgoing: ServerResponse
  body: Buffer
}
