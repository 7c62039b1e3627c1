import { done } from './mock.mjs'

/** Sums up what a side's turns gave, for the self-check: both sides must end with the same sums. */
export function tally() {
  const sums = { turns: 0, characters: 0, inputTokens: 0, outputTokens: 0 }
  let last
  return {
    /** @param {{ text: string, usage: { inputTokens: number, outputTokens: number }, messages: object[] }} result */
    add(result) {
      last = result
      sums.turns++
      sums.characters += result.text.length
      sums.inputTokens += result.usage.inputTokens
      sums.outputTokens += result.usage.outputTokens
    },
    check: () => ({ ...sums, ...done, text: last.text, messages: last.messages.filter(spoken).map(outline) }),
  }
}

const spoken = ({ role }) => role !== 'system'

/** A message without what only one side notes down. */
function outline({ role, content }) {
  if (typeof content === 'string') return { role, content }
  return {
    role,
    content: content.map(({ type, callId, name, args, content }) => ({ type, callId, name, args, content })),
  }
}
