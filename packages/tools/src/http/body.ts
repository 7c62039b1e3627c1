import type { IncomingMessage } from 'node:http'
import type { Node } from './node.ts'
import { requestRefused } from './request-refused.ts'

interface Limits {
  readonly method: string
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * Returns the uncompressed body. It counts compressed and uncompressed bytes as they arrive, so that neither a long body nor a zip bomb
 * is buffered.
 */
export async function readBody(
  { zlib, stream }: Node,
  response: IncomingMessage,
  { method, maxBytes, signal }: Limits,
): Promise<Uint8Array> {
  const { statusCode, headers } = response
  if (method === 'HEAD' || statusCode === 204 || statusCode === 304) {
    response.destroy()
    return new Uint8Array()
  }
  const chunks: Uint8Array[] = []
  const cap = async function* (source: AsyncIterable<Uint8Array>) {
    let bytes = 0
    for await (const chunk of source) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw requestRefused(`The answer is longer than ${maxBytes} bytes.`)
      yield chunk
    }
  }
  const keep = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) chunks.push(chunk)
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity') await stream.pipeline(response, cap, keep, { signal })
  else await stream.pipeline(response, cap, unpacker(), cap, keep, { signal })
  return Buffer.concat(chunks)

  function unpacker() {
    if (/^(x-)?gzip$|^deflate$/.test(encoding)) return zlib.createUnzip()
    if (encoding === 'br') return zlib.createBrotliDecompress()
    response.destroy()
    throw requestRefused(`The answer is packed as "${encoding.slice(0, 50)}", which cannot be read.`)
  }
}
