import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are answered at a time. Browsers and proxies send one. */
const most = 16
const open = new WeakMap<Socket, number>()

/**
 * Whether a request is answered. A client that sends many over one connection and reads none would have all their answers wait in
 * memory: its connection is closed.
 */
export function isAdmitted({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
  // Node goes on parsing what had come already.
  if (socket.destroyed) return false
  const count = (open.get(socket) ?? 0) + 1
  if (count > most) {
    socket.destroy()
    return false
  }
  open.set(socket, count)
  outgoing.once('close', () => open.set(socket, (open.get(socket) ?? 1) - 1))
  return true
}
