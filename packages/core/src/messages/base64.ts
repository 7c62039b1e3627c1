/** Bytes per call: a multiple of three, so that only the last chunk has padding, and small enough for the stack. */
const some = 12_288

/** Encodes bytes as base64. */
export function base64Of(bytes: ArrayBuffer | ArrayBufferView): string {
  const own = viewOf(bytes) as Uint8Array & { toBase64?(): string }
  if (own.toBase64 !== undefined) return own.toBase64()
  let text = ''
  for (const part of characters(bytes)) text += btoa(part)
  return text
}

/** Returns the bytes as a binary string, one character per byte. */
export function binaryOf(bytes: ArrayBuffer | ArrayBufferView): string {
  return [...characters(bytes)].join('')
}

/** Decodes base64. Throws for any other text. */
export function bytesOf(base64: string): Uint8Array {
  const { fromBase64 } = Uint8Array as { fromBase64?(text: string): Uint8Array }
  if (fromBase64 !== undefined) return fromBase64(base64)
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  // A loop, because a callback per byte takes a second for a large image.
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

function* characters(bytes: ArrayBuffer | ArrayBufferView): Generator<string> {
  const view = viewOf(bytes)
  for (let at = 0; at < view.length; at += some)
    yield String.fromCharCode.apply(null, view.subarray(at, at + some) as unknown as number[])
}

function viewOf(bytes: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes)
}
