/** Returns the safe description of an error: its code, or else its name. */
export function errorType(error: unknown): string {
  try {
    const { code, name } = error as { code?: unknown; name?: unknown }
    if (typeof code === 'string' && /^[\w.:-]{1,64}$/.test(code)) return code
    if (typeof name === 'string' && /^\w{1,64}$/.test(name)) return name
  } catch {}
  return 'Error'
}
