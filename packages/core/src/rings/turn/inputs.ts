import { checkMessage } from '../../messages/check-messages.ts'
import type { Message } from '../../messages/message.ts'
import type { Attempt } from '../../onion/attempt.ts'
import type { SessionScope } from '../session/session-scope.ts'

/**
 * Sees a message before anybody inside does: gives another in its place, null to leave it out, nothing for the message as it is.
 * `steered` is one that was put into the running turn.
 */
export type OnInput = (
  message: Message,
  about: { readonly steered: boolean },
) => Message | null | undefined | void | Promise<Message | null | undefined | void>

/** What a turn layer does to messages that come in. */
export interface InputStep {
  readonly fn: OnInput
  readonly layer: Attempt & { $hears: boolean }
}

/** The messages as some steps leave them, each behind the one before it. */
export async function passed(messages: readonly Message[], steps: readonly InputStep[]): Promise<Message[]> {
  const left: Message[] = []
  for (const message of messages) {
    let now: Message | null = message
    for (const { fn } of steps) {
      const given: Message | null | undefined | void = await fn(now, { steered: false })
      if (given !== undefined) now = given
      if (now === null) break
    }
    if (now !== null) left.push(now)
  }
  return left
}

/** A message that came while the turn ran, as the layers leave it; what one of them blocks is that message alone. */
export async function heardBy(message: Message, steps: readonly InputStep[]): Promise<Message | null> {
  let now = message
  for (const { fn, layer } of steps) {
    layer.$hears = true
    try {
      const given = await fn(now, { steered: true })
      if (given === null) return null
      if (given === undefined) continue
      checkMessage(given, `What "${layer.$hook?.name}" made of a message`, 'layer.result')
      now = given
    } finally {
      layer.$hears = false
    }
  }
  return now
}

/** Those of the agents above whose layers this session's agent inherits, outermost first. */
export function inheritedInputs({ parent }: SessionScope): readonly InputStep[] {
  if (parent === undefined) return []
  const { session, inputs = [] } = parent.$turn
  return [...inheritedInputs(session), ...inputs.filter(({ layer }) => layer.$hook?.inherit === true)]
}
