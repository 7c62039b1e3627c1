import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { describe } from '../errors/describe.ts'
import { copyMessage } from './json.ts'
import type { Input, Message, Part, ToolCallPart } from './message.ts'

const roles = new Set(['system', 'user', 'assistant', 'tool'])
const parts = new Set(['text', 'reasoning', 'image', 'file', 'custom', 'tool-call', 'tool-result'])

/** Returns the messages of an input, as copies that the run owns. */
export function toMessages(input: Input): Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const list: unknown = Array.isArray(input) ? input : [input]
  const messages = list as Message[]
  if (messages.length === 0 || messages[0] === undefined)
    throw new AlliumError(
      'message.invalid',
      `The input of a run must be a string, a message or a list of messages, not ${describe(input)}.`,
    )
  for (const [i, message] of messages.entries()) checkMessage(message, `input[${i}]`)
  checkInput(messages)
  return messages.map(copyMessage)
}

/** Throws unless `value` is a message: a known role, and text or known parts as content. */
export function checkMessage(
  value: unknown,
  where: string,
  code: ErrorCode = 'message.invalid',
): asserts value is Message {
  const fail = (what: string) => {
    throw new AlliumError(code, `${where} ${what}. A message is { role, content }, with text or parts as content.`)
  }
  if (typeof value !== 'object' || value === null) return fail(`is ${describe(value)}`)
  const { role, content } = value as Partial<Message>
  if (typeof role !== 'string' || !roles.has(role))
    return fail(`has the role ${describe(role)}, which is not system, user, assistant or tool`)
  if (typeof content === 'string') return
  if (!Array.isArray(content)) return fail(`has ${describe(content)} as content${uiMessage(value)}`)
  for (const part of content as Partial<Part>[])
    if (typeof part !== 'object' || part === null || !parts.has(part.type as string))
      return fail(`has a part of the type ${describe(part?.type)}`)
    else if ('toolCallId' in part && (part as Partial<ToolCallPart>).callId === undefined)
      return fail(`has a ${part.type} of the AI SDK: its toolCallId is callId here, its toolName name, its input args`)
}

function uiMessage(value: object): string {
  return 'parts' in value ? ' (it is a UI message of the AI SDK: its parts are the content here)' : ''
}

/**
 * Throws unless the list is a conversation that providers accept: each tool call has exactly one result, after it.
 * Calls of the last assistant message may still be pending. In that case, earlier calls that the provider runs may be too.
 */
export function checkHistory(history: unknown): asserts history is Message[] {
  if (!Array.isArray(history))
    throw new AlliumError('history.invalid', `A history must be an array of messages, not ${describe(history)}.`)
  const broken = (at: number, what: string) => {
    const fix = 'Every tool call needs exactly one result after it.'
    throw new AlliumError('history.invalid', `history[${at}] ${what}. ${fix}`)
  }
  for (const [at, message] of history.entries()) checkMessage(message, `history[${at}]`, 'history.invalid')
  const last = (history as Message[]).findLastIndex(({ role }) => role === 'assistant')
  const open = openCalls(history, broken)
  const waits = [...open.values()].some(({ at, ranByProvider }) => at === last && !ranByProvider)
  for (const [callId, { at, ranByProvider }] of open)
    if (at !== last && !(waits && ranByProvider))
      broken(history.length - 1, `ends with the tool call ${describe(callId)} unanswered`)
}

/** Throws unless each tool call of an input has its result there, because no tool runs for it. */
function checkInput(messages: readonly Message[]): void {
  const broken = (at: number, what: string) => {
    const fix = 'Give each call one result behind it, in a tool message, or leave both out.'
    throw new AlliumError('message.invalid', `input[${at}] ${what}. ${fix}`)
  }
  for (const [at, { content }] of messages.entries())
    if (typeof content !== 'string' && content.some(approves))
      throw new AlliumError(
        'message.invalid',
        `input[${at}] has a result with an approval. Only the session records approvals, so remove it.`,
      )
  for (const [callId, { at, name }] of openCalls(messages, broken))
    broken(at, `has the tool call ${describe(callId)} of ${describe(name)} without its result`)
}

function approves(part: Part): boolean {
  return part.type === 'tool-result' && (part.approval !== undefined || part.approved !== undefined)
}

interface OpenCall {
  at: number
  name: string
  ranByProvider: boolean
}

/** Returns calls without a result, with the index of their message. Calls `broken` for a duplicate call or a result without a call. */
function openCalls(messages: readonly Message[], broken: (at: number, what: string) => void): Map<string, OpenCall> {
  const open = new Map<string, OpenCall>()
  const closed = new Set<string>()
  messages.forEach(({ content }, at) => {
    if (typeof content === 'string') return
    for (const part of content) {
      if (part.type === 'tool-call') {
        if (open.has(part.callId) || closed.has(part.callId))
          broken(at, `has a second tool call with the id ${describe(part.callId)}`)
        open.set(part.callId, { at, name: part.name, ranByProvider: part.providerExecuted === true })
      } else if (part.type === 'tool-result') {
        if (!open.delete(part.callId))
          broken(at, `has a result for ${describe(part.callId)}, which no earlier call waits for`)
        closed.add(part.callId)
      }
    }
  })
  return open
}
