import { Refused } from './api.ts'

/** Whether the connection failed, as opposed to an answer of the server that says no. */
export function isConnectionLost(error: Error): boolean {
  if (error instanceof Refused) return error.code === 'network'
  return error instanceof TypeError || /network|fetch|aborted/i.test(error.message)
}

/** Returns what happened and what to do, in a sentence for a user. Names of error classes, codes and HTML never get through. */
export function sentenceOf(error: Error): string {
  const { code, message } = problemOf(error)
  const known = code === undefined ? undefined : sentences.get(code)
  if (known !== undefined) return known
  // The product wrote these messages for its users.
  const isForUsers = code === undefined || code.startsWith('guard.') || code.startsWith('sign_in.')
  return isForUsers && isSentence(message) ? message : 'Something went wrong. Try again in a moment.'
}

export function codeOf(error: Error): string | undefined {
  return problemOf(error).code
}

/** `useChat` puts the body of an error response into the message. An error inside a stream is a sentence without a code. */
function problemOf(error: Error): { code?: string | undefined; message: string } {
  if (error instanceof Refused) return error
  if (isConnectionLost(error)) return { code: 'network', message: '' }
  try {
    const { code, message } = JSON.parse(error.message) as { code?: unknown; message?: unknown }
    return { code: String(code), message: String(message) }
  } catch {
    return { message: error.message }
  }
}

function isSentence(text: string): boolean {
  return text.length <= 300 && /^[A-Z][^<>]* [^<>]*[.!?]$/.test(text)
}

const model = 'The model could not answer. Try again.'
const slow = 'The answer took too long. Try again, or ask something shorter.'
const away = 'The service is not available right now. Try again in a moment.'

const sentences: ReadonlyMap<string, string> = new Map([
  ['network', 'The server cannot be reached. Check your connection.'],
  ['model.failed', model],
  ['model.invalid', model],
  ['model.protocol', model],
  ['model.truncated', model],
  ['model.open', model],
  ['model.timeout', slow],
  ['turn.timeout', slow],
  ['layer.timeout', slow],
  ['server.draining', 'The service is restarting. Try again in a moment.'],
  ['store.unavailable', away],
  ['store.full', away],
  ['store.readonly', away],
  ['session.busy', 'An answer is still being written. Wait for it, or stop it first.'],
  ['session.not_found', 'This conversation does not exist, or it belongs to somebody else.'],
  ['session.invalid_id', 'The address of this page names no conversation. Start a new one.'],
  ['run.interrupted', 'The answer was interrupted. Ask again.'],
  ['run.not_running', 'The answer had just ended, so your message was not read. Send it again to ask next.'],
  ['request.principal', 'You are signed out. Reload the page to sign in again.'],
  ['request.too_large', 'This message is too long. Shorten it, then send it again.'],
  ['approval.used', 'This request has already been decided.'],
  ['approval.unknown', 'This request is no longer waiting for a decision.'],
  ['approval.changed', 'This request has changed. Look at it again before you decide.'],
  ['approval.expired', 'The time to decide this request is over. Ask again.'],
  ['approval.forbidden', 'You are not allowed to approve this request. Somebody else has to.'],
  ['approval.forged', 'You are not allowed to approve this request. Somebody else has to.'],
])
