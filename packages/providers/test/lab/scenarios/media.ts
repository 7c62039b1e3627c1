/** A PNG of one pixel. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** A PDF without pages. */
export const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF').toString(
  'base64',
)

/** Keys whose values are data or addresses of files. */
const fileKeys = new Set([
  'url',
  'image_url',
  'file_data',
  'data',
  'bytes',
  'images',
  'document_url',
  'image',
  'file_url',
])

/** Returns whether a request has a file as a file, as text, or not at all. */
export function base64At(value: unknown, data: string, key = ''): 'file' | 'text' | undefined {
  if (typeof value === 'string') return value.includes(data) ? (fileKeys.has(key) ? 'file' : 'text') : undefined
  if (Array.isArray(value)) return worst(value.map((one) => base64At(one, data, key)))
  if (typeof value !== 'object' || value === null) return undefined
  return worst(Object.entries(value).map(([name, one]) => base64At(one, data, name)))
}

function worst(places: ('file' | 'text' | undefined)[]): 'file' | 'text' | undefined {
  if (places.includes('text')) return 'text'
  return places.includes('file') ? 'file' : undefined
}
