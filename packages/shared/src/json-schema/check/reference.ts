/** Returns the value at a local reference such as `#/$defs/name`: https://www.rfc-editor.org/rfc/rfc6901. Undefined if there is none. */
export function resolvePointer(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let value = root
  for (const segment of reference.slice(2).split('/')) {
    const key = decodeSegment(segment)
    if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}
