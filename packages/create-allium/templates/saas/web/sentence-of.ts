const sentences: ReadonlyMap<string, string> = new Map([
  ['request.principal', 'You are signed out. Reload the page to sign in again.'],
  ['session.busy', 'The previous answer is not finished. Wait for it, or stop it.'],
  ['approval.unknown', 'This request is no longer waiting for a decision.'],
  ['approval.used', 'This request has already been decided.'],
  ['approval.expired', 'This request has expired. Ask again.'],
  ['run.interrupted', 'The connection was lost. Reload the page to see the answer.'],
])

/** Returns a sentence for the user that explains an error. The error itself is for the developer, in the browser's console. */
export function sentenceOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  const known = sentences.get(code ?? '')
  if (known !== undefined) return known
  // Limits explain themselves to the user.
  if (code?.startsWith('guard.') && message) return message
  if (error instanceof TypeError) return 'The server cannot be reached. Try again.'
  return 'Something went wrong. Try again in a moment.'
}
