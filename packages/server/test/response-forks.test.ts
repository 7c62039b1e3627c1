import { expect, test } from 'vitest'
import { agentOf, ask, listen } from './kit.ts'

const hanging = { text: 'A part', stall: true }

/** Two runs of one session, the second of which changed it after the first response. Then `limits` are used up by a run that hangs. */
async function usedUp(limits: object) {
  const { url } = await listen(agentOf(['One.', 'Two.', hanging]), { openai: true, limits, headersAfter: 0 })
  const post = (body: object) => ask(`${url}/v1/responses`, { body: { model: 'agent', ...body } })
  const { id } = (await (await post({ input: 'a' })).json()) as { id: string }
  await post({ input: 'b', previous_response_id: id })
  await ask(`${url}/sessions/hangs/runs`, { body: { input: 'Hi' }, headers: { accept: 'text/event-stream' } })
  const sessions = async () => ((await (await ask(`${url}/sessions`)).json()) as { sessions: object[] }).sessions.length
  return { sessions, branch: (stream: boolean) => post({ input: 'c', previous_response_id: id, stream }) }
}

test.each([
  ['run', { runs: { perUser: 1 } }, false],
  ['run', { runs: { perUser: 1 } }, true],
  ['stream', { streams: { perUser: 1 } }, true],
])('a branch that gets no %s leaves no session behind (%j, streamed: %s)', async (_, limits, stream) => {
  const { sessions, branch } = await usedUp(limits)
  const before = await sessions()
  expect((await branch(stream)).status).toBe(429)
  expect(await sessions()).toBe(before)
})
