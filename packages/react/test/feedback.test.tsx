import { feedback } from '@allium/server/feedback'
import { memoryStore } from '@allium/store'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Feedback, type SessionFeedback } from '../src/feedback.ts'
import { agentOf, listen, open, until } from './kit.ts'

const answer = { id: 'run-1', role: 'assistant', status: 'done' }

function given(score?: number, comment?: string): SessionFeedback {
  const none = async () => false
  return {
    of: () => (score === undefined ? undefined : { score, comment }),
    give: none,
    remove: none,
    error: undefined,
  }
}

/** The pressed state of the two buttons. */
const pressed = (html: string) => [...html.matchAll(/aria-pressed="(\w+)"/g)].map(([, value]) => value)

test.each([
  [undefined, ['false', 'false']],
  [1, ['true', 'false']],
  [0, ['false', 'true']],
  [0.5, ['false', 'false']],
])('the score %s is shown by the pressed button, in a named group', (score, expected) => {
  const html = renderToString(<Feedback message={answer} feedback={given(score)} />)
  expect(pressed(html)).toEqual(expected)
  expect(html).toMatch(/role="group"[^>]*aria-label="Feedback on this answer"/)
})

test('thumbs down ask for a comment, with the one that was given', () => {
  const html = renderToString(<Feedback message={answer} feedback={given(0, 'Wrong price')} />)
  expect(html).toContain('>Wrong price</textarea>')
  expect(renderToString(<Feedback message={answer} feedback={given(0)} askComment={false} />)).not.toContain('<form')
  expect(renderToString(<Feedback message={answer} feedback={given(1)} />)).not.toContain('<form')
})

test.each([
  { ...answer, role: 'user' },
  { ...answer, status: 'streaming' },
  { ...answer, status: 'suspended' },
])('there are no buttons on a message that is no finished answer: %j', (message) => {
  expect(renderToString(<Feedback message={message} feedback={given()} />)).toBe('')
})

test('the ids of the messages of a page find the feedback, before and after a reload', async () => {
  const sessions = memoryStore()
  const url = await listen(agentOf(['One.', 'Two.']), { sessions, feedback: feedback({ store: sessions.feedback }) })
  const chat = open(url)
  chat.store.send('Hi')
  await until(chat, 'idle')
  const live = chat.state().messages.at(-1)?.id ?? ''
  const session = chat.client.session('chat-1')
  await session.giveFeedback(live, { score: 'down', comment: 'Wrong' })
  chat.store.send('And?')
  await expect.poll(() => chat.state().messages.length).toBe(4)
  await until(chat, 'idle')
  const { messages } = await session.history()
  const [mine] = await session.feedback()
  expect([mine?.turnId, mine?.messageId]).toEqual([live, messages[1]?.id])
})
