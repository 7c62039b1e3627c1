import { usage } from '../format.ts'
import { describe, reasoningOf } from '../outcome.ts'
import { firstOf, type Scenario } from '../scenario.ts'
import { callOf } from './calls.ts'

const text = 'Grüße 🧅'

/** What an answer holds: text, reasoning, usage. */
export const answers: readonly Scenario[] = [
  {
    name: 'text',
    promise: 'The text arrives whole, with the finish reason and one request.',
    async run(lab) {
      const outcome = await lab.ask([{ text }])
      return firstOf(
        [outcome.status !== 'completed' || outcome.text !== text, describe(outcome)],
        [outcome.finishReason !== 'stop', `finish reason ${outcome.finishReason}`],
        [outcome.script.requests.length !== 1, `${outcome.script.requests.length} requests`],
      )
    },
  },
  {
    name: 'usage',
    promise: 'Tokens in and out are those of the provider.',
    async run(lab) {
      const { usage: used } = await lab.ask([{ text }])
      return firstOf(
        [used?.estimated === true, 'estimated'],
        [
          used?.inputTokens !== usage.input || used.outputTokens !== usage.output,
          `${used?.inputTokens} in, ${used?.outputTokens} out`,
        ],
      )
    },
  },
  {
    name: 'reasoning',
    promise: 'Reasoning arrives apart from the text, and the next turn is accepted.',
    applies: ({ reasoning }) => reasoning,
    async run(lab) {
      const outcome = await lab.ask([{ reasoning: 'Thinking', text }], { more: ['Again'] })
      return firstOf(
        [outcome.status !== 'completed' || outcome.text !== text, describe(outcome)],
        [!reasoningOf(outcome.history).startsWith('Thinking'), 'the reasoning is lost'],
      )
    },
  },
  {
    name: 'signed reasoning',
    promise: 'Signed reasoning before a call goes back with its result.',
    applies: ({ signature }) => signature !== undefined,
    async run(lab) {
      const calls = [callOf(lab.format)]
      const outcome = await lab.ask([{ reasoning: 'Thinking', calls }, { text }])
      return firstOf(
        [outcome.status !== 'completed' || outcome.text !== text, describe(outcome)],
        [lab.format.signature?.test(JSON.stringify(outcome.script.requests.at(-1))) !== true, 'it is not sent back'],
      )
    },
  },
  {
    name: 'cached and reasoning tokens',
    promise: 'Cached tokens and tokens of reasoning are counted as parts of both.',
    applies: ({ counts }) => counts.cached || counts.reasoning,
    async run(lab) {
      const { usage: used } = await lab.ask([{ text }])
      const { counts } = lab.format
      return firstOf(
        [counts.cached && used?.cachedInputTokens !== usage.cached, `${used?.cachedInputTokens} cached`],
        [counts.reasoning && used?.reasoningTokens !== usage.reasoning, `${used?.reasoningTokens} of reasoning`],
      )
    },
  },
]
