import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy that can lose one reply: the server has run the command, and the client never learns it. */
export interface CuttingProxy {
  readonly port: number
  /** Cuts the connection instead of passing on the next reply to a command whose bytes hold this text. */
  cutAfter(text: string): void
  /** Replies that were lost. */
  readonly cuts: number
  end(): Promise<void>
}

/** Stands before a server on 127.0.0.1. */
export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let text: string | undefined
  let cuts = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let isCut = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      isCut ||= text !== undefined && bytes.includes(text)
      if (isCut) text = undefined
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isCut) return client.write(bytes)
      cuts++
      return client.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    cutAfter: (next) => {
      text = next
    },
    get cuts() {
      return cuts
    },
    async end() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
