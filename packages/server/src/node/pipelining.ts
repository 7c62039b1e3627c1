import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Most requests of one connection that are answered at a time. Browsers and proxies send one. */
const maxConcurrent = 16
const inFlight = new WeakMap<Socket, number>()

/**
 * Returns whether to answer a request. If a client sends many requests over one connection and reads no answers, all answers would wait
 * in memory, so its connection is closed.
 */
export function isAdmitted({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
  // Node still parses requests that had arrived before.
  if (socket.destroyed) return false
  const count = (inFlight.get(socket) ?? 0) + 1
  if (count > maxConcurrent) {
    socket.destroy()
    return false
  }
  inFlight.set(socket, count)
  outgoing.once('close', () => inFlight.set(socket, (inFlight.get(socket) ?? 1) - 1))
  return true
}
