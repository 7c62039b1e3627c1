import type { Message } from '@allium/core'
import { firstOf, type Scenario } from '../scenario.ts'
import { done, isDone } from './done.ts'
import { foreignHistories } from './foreign.ts'

/** Sessions that did not begin with this provider, or hold texts that it rejects. */
export const histories: readonly Scenario[] = [
  {
    name: 'history of another provider',
    promise:
      'Text, calls and results of any other provider are sent; its reasoning, parts and ids do not break the request.',
    async run(lab) {
      for (const { family, messages } of foreignHistories(lab.format)) {
        const outcome = await lab.ask([done], { input: messages })
        const sent = JSON.stringify(outcome.script.requests)
        const fault = firstOf(
          isDone(outcome),
          [!sent.includes('Half of it'), 'the text is lost'],
          [!sent.includes('three of them'), 'the result is lost'],
        )
        if (fault !== undefined) return `of ${family}: ${fault}`
      }
    },
  },
  {
    name: 'blank texts',
    promise: 'Texts of white space do not break a session.',
    async run(lab) {
      const input: Message[] = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: ' \n' },
        { role: 'user', content: ' ' },
        { role: 'assistant', content: 'Yes? \n' },
        { role: 'user', content: 'Hello' },
      ]
      return firstOf(isDone(await lab.ask([{ ...done }], { input })))
    },
  },
]
