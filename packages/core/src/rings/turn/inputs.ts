import { checkMessage } from '../../messages/check-messages.ts'
import type { Message } from '../../messages/message.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { TurnAttempt, TurnContext } from './context.ts'

/** What a layer is told of a message that comes in. */
export interface InputAbout {
  /** It was put into the running turn. */
  readonly steered: boolean
  /**
   * The layer's context, to act with for this message. Where a sub-agent is asked it, that is done inside the call, and a replay, which
   * does not ask the sub-agent again, does it again: what is written to the state, and recorded.
   */
  readonly ctx: TurnContext
}

/** Sees a message before anybody inside does: gives another in its place, null to leave it out, nothing for the message as it is. */
export type OnInput = (
  message: Message,
  about: InputAbout,
) => Message | null | undefined | void | Promise<Message | null | undefined | void>

/** What a turn layer does to messages that come in. */
export interface InputStep {
  readonly fn: OnInput
  readonly layer: TurnAttempt
  /** What the layer acts with. @default the layer's own */
  readonly ctx?: TurnContext | undefined
}

/** The messages as some steps leave them, each behind the one before it. */
export async function throughInputLayers(
  messages: readonly Message[],
  steps: readonly InputStep[],
): Promise<Message[]> {
  const kept: Message[] = []
  for (const message of messages) {
    let now: Message | null = message
    for (const { fn, layer, ctx = layer } of steps) {
      const given: Message | null | undefined | void = await fn(now, { steered: false, ctx })
      if (given !== undefined) now = given
      if (now === null) break
    }
    if (now !== null) kept.push(now)
  }
  return kept
}

/** A message that came while the turn ran, as the layers leave it; what one of them blocks is that message alone. */
export async function throughSteerLayers(message: Message, steps: readonly InputStep[]): Promise<Message | null> {
  let now = message
  for (const { fn, layer, ctx = layer } of steps) {
    layer.$inspectsSteered = true
    try {
      const given = await fn(now, { steered: true, ctx })
      if (given === null) return null
      if (given === undefined) continue
      checkMessage(given, `What "${layer.$hook?.name}" made of a message`, 'layer.result')
      now = given
    } finally {
      layer.$inspectsSteered = false
    }
  }
  return now
}

/** Those of the agents above whose layers this session's agent inherits, outermost first. */
export function inheritedInputs(session: SessionScope): readonly InputStep[] {
  return inheritedFrom(session, session, 1)
}

function inheritedFrom(target: SessionScope, { parent }: SessionScope, levels: number): readonly InputStep[] {
  if (parent === undefined) return []
  const { session, inputs = [] } = parent.$turn
  const inherited = inputs.filter(({ layer }) => layer.$hook?.inherit === true)
  return [
    ...inheritedFrom(target, session, levels + 1),
    ...inherited.map(({ fn, layer }) => ({ fn, layer, ctx: contextInside(layer, target, levels) })),
  ]
}

/** The context of a layer for what a sub-agent is asked: what it does is noted with the call. */
function contextInside(layer: TurnAttempt, session: SessionScope, levels: number): TurnAttempt {
  return Object.create(layer, {
    $view: { value: undefined, writable: true },
    $effects: { value: { session, levelsUp: levels + (layer.$hook?.levelsUp ?? 0) } },
  })
}
