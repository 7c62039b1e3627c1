/** Whether it is the connection that broke, and not the server that refused. */
export function isLost(error: Error): boolean {
  return error instanceof TypeError || /network|fetch|aborted/i.test(error.message)
}

/** What happened and what to do, in words for a person. */
export function wordsOf(error: Error): string {
  const { code, message } = toldBy(error)
  const known: Record<string, string> = {
    'session.busy': 'An answer is still being written. Wait for it, or stop it first.',
    'request.principal': 'Your sign-in has ended. Reload the page to sign in again.',
    'approval.used': 'Somebody has decided this already. Reload the page to see how.',
    'approval.expired': 'This could be decided until a while ago. Ask again.',
    'server.draining': 'The service is being restarted. Try again in a moment.',
  }
  return (code && known[code]) ?? message
}

/** A refusal comes as JSON, a failure in mid-answer as a sentence. */
function toldBy({ message }: Error): { code?: string; message: string } {
  try {
    return JSON.parse(message)
  } catch {
    return { message }
  }
}
