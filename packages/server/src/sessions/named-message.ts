import type { Message } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import type { Access, Limits, RunReader, Stores } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import type { RunRequest } from '../run/run-request.ts'
import { cutBefore } from './edit.ts'
import { hasId, type MessageIds, replacedMessage } from './message-position.ts'

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
  host: Access & Stores & RunReader & Limits,
  caller: Caller,
  sessionId: string,
  { content, again = false, idempotencyKey = crypto.randomUUID(), attempt, ...ids }: NamedMessage,
): Promise<RunRequest> {
  const { id } = ids
  const key = keyOf(caller, sessionId)
  const digest = (await digestOf([id, content ?? null, attempt ?? null])).slice(0, 22)
  const own = { idempotencyKey: `${idempotencyKey}:${digest}` }
  const isAnsweredBy = (runKey: string) => runKey === own.idempotencyKey || (!again && runKey.endsWith(digest))
  const inputOf = (messageContent: Message['content']): Message => ({ role: 'user', content: messageContent, id })

  const prepare = async () => {
    const found = await replacedMessage(host.sessions, key, ids)
    const turn = found && (await host.sessions.find(key, { turnId: found.turnId }))
    const stored =
      again && found !== undefined && hasId(found, id) ? turn?.messages[found.index - turn.from] : undefined
    const newContent = stored?.content ?? content
    if (newContent === undefined) throw unknownError(id)
    const input = inputOf(newContent)
    if (turn === undefined) return { ...own, input }
    const { idempotencyKey: turnKey = '', status } = turn
    const isFinal = turnKey === own.idempotencyKey || status === 'completed' || status === 'suspended'
    if (isAnsweredBy(turnKey) && isFinal) return { idempotencyKey: turnKey, input }
    if (host.options.edits === 'reject') throw rejectedError(id)
    await cutBefore(host, caller, sessionId, ids)
    return { ...own, input }
  }

  const isNew = async () => !again && (await replacedMessage(host.sessions, key, ids)) === undefined
  return { input: inputOf(content ?? ''), message: { id, isAnsweredBy, isNew, prepare } }
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
