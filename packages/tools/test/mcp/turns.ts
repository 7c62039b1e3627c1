import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Gives turns to processes that connect: so many at a time, each until it has ended. */
export async function turnsFor(atOnce: number): Promise<{ port: number; close(): void }> {
  const waiting: Socket[] = []
  let free = atOnce
  const next = () => {
    const socket = free > 0 ? waiting.shift() : undefined
    if (socket === undefined) return
    free--
    socket.once('close', () => {
      free++
      next()
    })
    socket.write('.')
  }
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume()
    waiting.push(socket)
    next()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
