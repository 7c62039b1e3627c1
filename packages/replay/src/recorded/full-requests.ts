import { AlliumError, type Message, type ModelRequest } from '@allium/core'
import type { RecordedRequest, RecordedTurn } from '../recorded-turn.ts'

/** A request as it was sent, with all its messages. */
export interface FullRequest
  extends Pick<
    RecordedRequest,
    'turnId' | 'call' | 'attempt' | 'model' | 'settings' | 'toolChoice' | 'responseFormat'
  > {
  readonly messages: readonly Message[]
  readonly tools: ModelRequest['tools']
}

/** References may multiply the messages of a recording, so their sum is limited. */
const mostMessages = 1_000_000

/**
 * Returns the requests of a turn with the messages that they refer to.
 *
 * @param history the messages before the turn
 * @throws AlliumError `recording.invalid` if a reference points outside its list
 */
export function fullRequests({ requests }: RecordedTurn, history: readonly Message[]): FullRequest[] {
  const full: FullRequest[] = []
  let sum = 0
  for (const { messages: parts, ...own } of requests) {
    const before = full.at(-1)
    const messages: Message[] = []
    for (const part of parts) {
      const found =
        'of' in part ? rangeOf(part, part.of === 'history' ? history : (before?.messages ?? [])) : part.messages
      sum += found.length
      if (sum > mostMessages) throw invalid(`refers to more than ${mostMessages} messages`)
      for (const message of found) messages.push(message)
    }
    const { tools = [], settings, toolChoice, responseFormat } = { ...before, ...own }
    full.push({ ...own, messages, tools, settings, toolChoice, responseFormat })
  }
  return full
}

function rangeOf({ of, from, count }: { of: string; from: number; count: number }, list: readonly Message[]) {
  if (from + count <= list.length) return list.slice(from, from + count)
  const what = of === 'history' ? 'the history' : 'the request before'
  throw invalid(`refers to the messages ${from} to ${from + count} of ${what}, which has ${list.length}`)
}

function invalid(what: string): AlliumError {
  return new AlliumError(
    'recording.invalid',
    `The recording ${what}. It was left out. Delete it, or record the turn again.`,
  )
}
