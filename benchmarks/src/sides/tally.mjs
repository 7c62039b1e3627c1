import { done } from './mock.mjs'

/** Sums up what a side's turns gave, for the self-check: the turns of both sides must come to the same. */
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
    check() {
      const { turns, ...others } = sums
      return {
        ...each(turns, { ...others, ...done }),
        text: last.text,
        messages: last.messages.filter(spoken).map(outline),
      }
    },
    /** Counts of what else was done, by turn. @param {Record<string, number>} counts */
    each: (counts) => each(sums.turns, counts),
  }
}

function each(turns, counts) {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / turns]))
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
