import { Refused } from './api.ts'

/** Whether the connection failed. False if the server rejected the request. */
export function isConnectionLost(error: Error): boolean {
  if (error instanceof Refused) return error.code === 'network'
  return error instanceof TypeError || /network|fetch|aborted/i.test(error.message)
}

/** Returns a sentence for the user that explains the error. It never contains class names, codes or HTML. */
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
  if (error instanceof Refused || isOfClient(error)) return error
  if (isConnectionLost(error)) return { code: 'network', message: '' }
  try {
    const { code, message } = JSON.parse(error.message) as { code?: unknown; message?: unknown }
    return { code: String(code), message: String(message) }
  } catch {
    return { message: error.message }
  }
}

/** Errors of the typed client have a code. */
function isOfClient(error: Error): error is Error & { code: string } {
  return error.name === 'ClientError'
}

function isSentence(text: string): boolean {
  return text.length <= 300 && /^[A-Z][^<>]* [^<>]*[.!?]$/.test(text)
}

const model = 'The model could not answer. Try again.'
const slow = 'The answer took too long. Try again, or ask something shorter.'
const unreachable = 'The server cannot be reached. Check your connection.'
const away = 'The service is not available right now. Try again in a moment.'

const sentences: ReadonlyMap<string, string> = new Map([
  ['network', unreachable],
  ['connection.lost', unreachable],
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
  ['store.conflict', 'This has changed in the meantime. Check it, then try again.'],
  ['store.full', away],
  ['server.limit', 'You have changed this often in the last minute. Wait a moment and try again.'],
  ['store.readonly', away],
  ['session.busy', 'The previous answer is not finished. Wait for it, or stop it first.'],
  ['session.not_found', 'This conversation does not exist, or it belongs to another user.'],
  ['session.invalid_id', 'The address of this page is not a valid conversation. Start a new one.'],
  ['run.interrupted', 'The answer was interrupted. Ask again.'],
  ['run.not_running', 'The answer had just ended, so your message was not read. Send it again.'],
  ['request.principal', 'You are signed out. Reload the page to sign in again.'],
  ['request.too_large', 'This message is too long. Shorten it, then send it again.'],
  ['approval.used', 'This request has already been decided.'],
  ['approval.unknown', 'This request is no longer waiting for a decision.'],
  ['approval.changed', 'This request has changed. Review it again before you decide.'],
  ['approval.expired', 'This request has expired. Ask again.'],
  ['approval.forbidden', 'You are not allowed to approve this request. An admin must do it.'],
  ['approval.forged', 'You are not allowed to approve this request. An admin must do it.'],
])
