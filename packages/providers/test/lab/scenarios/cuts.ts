import type { Answer, WireEvent } from '../format.ts'
import type { Lab } from '../lab.ts'
import { describe, type Outcome } from '../outcome.ts'
import { firstOf } from '../scenario.ts'
import { callOf } from './calls.ts'

const text = 'Grüße 🧅'

/** Cuts an answer after each event and inside of each, and says which places are not as they should be. */
export async function cutEverywhere(
  lab: Lab,
  ending: 'end' | 'break',
  isRight: (outcome: Outcome) => boolean,
  answer: Answer = { reasoning: 'Thinking', text, calls: [callOf(lab.format)] },
): Promise<string | undefined> {
  const events = lab.format.events(answer)
  const places = new Map<string, string[]>()
  const end = events.length - lab.format.tail
  for (let at = 0; at < end; at++)
    for (const inside of [false, true]) {
      const piece = (events[at] as WireEvent).slice(0, inside ? 9 : 0)
      const outcome = await lab.ask([{ events: [...events.slice(0, at), ...(inside ? [piece] : [])], ending }])
      const fault = firstOf([outcome.ran.length > 0, 'the tool ran'], [!isRight(outcome), describe(outcome)])
      if (fault !== undefined) places.set(fault, [...(places.get(fault) ?? []), `${at}${inside ? '½' : ''}`])
    }
  if (places.size === 0) return undefined
  return [...places].map(([fault, where]) => `after ${where.join(', ')} of ${events.length}: ${fault}`).join('; ')
}
