import type { ServerResponse } from 'node:http'
import type { SseBody } from '../http/sse.ts'

/**
 * Writes a stream of server-sent events straight to its socket. Returns false for any other response, and for a stream that a handler
 * around the server has begun to read. Without a web stream in between, a request of one chunk takes 3 to 10 % less CPU on Node 20.
 */
export function writeStream({ status, headers, body }: Response, outgoing: ServerResponse): boolean {
  if (body === null || !('connection' in body) || body.locked) return false
  const { connection } = body as SseBody
  if (outgoing.destroyed) {
    connection.close()
    return true
  }
  outgoing.on('drain', () => connection.ready())
  outgoing.on('close', () => connection.close())
  outgoing.on('error', () => connection.close())
  outgoing.setHeaders(headers)
  outgoing.writeHead(status)
  connection.connect({
    write: (text) => outgoing.write(text),
    end: (failure) => void (failure === undefined ? outgoing.end() : outgoing.destroy(failure)),
  })
  connection.ready()
  return true
}
