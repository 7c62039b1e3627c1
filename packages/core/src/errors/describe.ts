/** Describes a value in a few words for a message. Never throws, and never shows the contents of objects. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `"${value.slice(0, 57)}…"` : `"${value}"`
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`
  if (value instanceof Promise) return 'a promise (await it first)'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}

/** Returns the message of any thrown value, even if its getters throw. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message)
    return String(thrown)
  } catch {
    return 'an error whose message cannot be read'
  }
}

/**
 * Returns the message of any thrown value, for logs. Removes URLs, and words that contain a digit or follow the name of a secret, because
 * keys, passwords and tokens are among these.
 */
export function cleanMessageOf(thrown: unknown): string {
  return messageOf(thrown)
    .slice(0, 500)
    .replace(/\w+:\/\/\S+/g, '…')
    .replace(/((?:pass|secret|token|key|bearer|authorization|cookie)\w*\W{1,5})\S+/gi, '$1…')
    .replace(/\S*\d\S*/g, '…')
}

/** Returns the reason of a refusal or a stop as text. In JavaScript, callers may pass nothing, or an error. */
export function reasonText(reason: unknown, otherwise: string): string {
  if (typeof reason === 'string') return reason
  if (reason instanceof Error) return messageOf(reason)
  return reason === undefined || reason === null ? otherwise : describe(reason)
}

/** Whether a text has no control characters and no lone surrogates. */
export function isPrintable(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff)) return false
  }
  return true
}

/** Returns a field of a thrown value; undefined if its getter throws. */
export function fieldOf(thrown: unknown, key: string): unknown {
  try {
    return (thrown as Record<string, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}
