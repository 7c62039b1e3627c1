import { digestOf, type Message } from '@allium/core'
import type { Host } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import type { RunRequest } from '../run/run-request.ts'
import { cutBefore } from './edit.ts'
import { currentHistory, isInputWith, type MessageIds, replacedIndex, turnAt } from './message-position.ts'

/** A user message with the id that its client gave it. */
export interface NamedMessage extends MessageIds {
  /** Undefined for a stored message that is answered again. */
  readonly content?: Message['content'] | undefined
  /** Answers the stored message again, even if it has an answer. @default false */
  readonly again?: boolean | undefined
  readonly idempotencyKey?: string | undefined
  /** A second request for the same message is a repeated one only if this is the same. */
  readonly attempt?: string | undefined
}

/**
 * Returns the run that a message with an id requests. A repeated message gets the run that answers it. A message that is in the session
 * already, or that continues an earlier point of it, takes the place of all messages from there on.
 *
 * @throws AlliumError (the run) `request.invalid` if the server does not allow edits; `store.conflict` for a delivered steering message
 */
export async function namedRequest(
  host: Host,
  caller: Caller,
  sessionId: string,
  { content, again = false, idempotencyKey = crypto.randomUUID(), attempt, ...ids }: NamedMessage,
): Promise<RunRequest> {
  const { id } = ids
  const key = keyOf(caller, sessionId)
  const digest = (await digestOf([id, content ?? null, attempt ?? null])).slice(0, 22)
  const own = { idempotencyKey: `${idempotencyKey}:${digest}` }
  const isAnsweredBy = (key: string) => key === own.idempotencyKey || (!again && key.endsWith(digest))
  const inputOf = (content: Message['content']): Message => ({ role: 'user', content, id })

  const find = async () => {
    const stored = await host.sessions.load(key)
    if (stored === undefined) return undefined
    const history = currentHistory(stored)
    if (history.some(({ steer }) => steer === id)) throw deliveredError(id)
    const index = replacedIndex(history, ids)
    return index === undefined ? undefined : { stored, index, message: history[index] as Message }
  }

  const prepare = async () => {
    const found = await find()
    const isStored = found !== undefined && isInputWith(id, found.message, found.index)
    const text = again && isStored ? found.message.content : content
    if (text === undefined) throw unknownError(id)
    const input = inputOf(text)
    if (found === undefined) return { ...own, input }
    const { turn } = (await turnAt(host.sessions, key, found.stored, found.index)) ?? {}
    const { idempotencyKey = '', status = '' } = turn ?? {}
    const isFinal = idempotencyKey === own.idempotencyKey || status === 'completed' || status === 'suspended'
    if (isAnsweredBy(idempotencyKey) && isFinal) return { idempotencyKey, input }
    if (host.options.edits === 'reject') throw rejectedError(id)
    await cutBefore(host, caller, sessionId, ids)
    return { ...own, input }
  }

  const isNew = async () => !again && (await find()) === undefined
  return { input: inputOf(content ?? ''), message: { id, isAnsweredBy, isNew, prepare } }
}

function deliveredError(id: string): Error {
  return requestError('store.conflict', `The message ${JSON.stringify(id)} was delivered to an earlier run already.`)
}

function unknownError(id: string): Error {
  return requestError('request.invalid', `The session has no message ${JSON.stringify(id)}. Send it with its content.`)
}

function rejectedError(id: string): Error {
  return requestError(
    'request.invalid',
    `The message ${JSON.stringify(id)} takes the place of an earlier one, and this server does not allow edits. Fork the session.`,
  )
}
