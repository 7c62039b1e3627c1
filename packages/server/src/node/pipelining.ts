import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are answered at a time. Browsers and proxies send one. */
const maxConcurrent = 16
const inFlight = new WeakMap<Socket, number>()

/**
 * Whether a request is answered. A client that sends many over one connection and reads none would have all their answers wait in
 * memory: its connection is closed.
 */
export function isAdmitted({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
  // Node goes on parsing what had come already.
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
