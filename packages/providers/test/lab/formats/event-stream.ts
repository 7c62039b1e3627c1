import { crc32 } from 'node:zlib'

/**
 * One message in the framing of https://smithy.io/2.0/aws/amazon-eventstream.html, read 2026-11-29: lengths, their checksum, headers,
 * payload, checksum.
 */
export function frame(name: string, payload: object, kind: 'event' | 'exception' = 'event'): Uint8Array {
  const headers = Buffer.concat([
    header(':message-type', kind),
    header(`:${kind}-type`, name),
    header(':content-type', 'application/json'),
  ])
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(prelude.length + headers.length + body.length + 4, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, headers, body, Buffer.alloc(4)])
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}

/** A header whose value is a text, which is type 7. */
function header(name: string, value: string): Buffer {
  const sizes = Buffer.alloc(3)
  sizes.writeUInt8(7)
  sizes.writeUInt16BE(value.length, 1)
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), sizes, Buffer.from(value)])
}
