/** The size from which bytes and base64 are stored as blobs. */
const least = 4096

/** Whether a store keeps a value apart from the JSON around it: bytes, base64 or a data URL of 4 kB or more. */
export function isBlob(value: string | object): value is Uint8Array | string | URL {
  if (value instanceof Uint8Array) return value.length >= least
  const text = typeof value === 'string' ? value : value instanceof URL ? value.href : ''
  // A text that only looks like base64 is also restored exactly.
  return text.length >= least && /^(?:data:|[\w+/-]{64})/.test(text)
}
