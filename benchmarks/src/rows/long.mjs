import { mock } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

const conversations = 60

/** Turn 1 and turn 200 of the same conversations. */
export const long = {
  async loop() {
    const { conversation, loop } = await import('../sides/loop.mjs')
    const setup = { model: mock() }
    return firstAndLast(conversation, (messages) => loop(setup, messages, 'Hi'))
  },
  async allium() {
    const { everythingOn } = await import('../sides/allium.mjs')
    const agent = await everythingOn({ model: mock() })
    return firstAndLast(
      () => agent.session(),
      (session) => session.run('Hi'),
    )
  },
}

function firstAndLast(open, run) {
  const { add, check } = tally()
  /** The next turn of every conversation. */
  const turn = (all) => {
    let at = 0
    return timed(all.length, async () => add(await run(all[at++])))
  }
  return {
    async sample() {
      const all = Array.from({ length: conversations }, open)
      const first = await turn(all)
      for (let i = 2; i < 200; i++) await turn(all)
      return { first, last: await turn(all) }
    },
    check() {
      const { messages, ...sums } = check()
      return { ...sums, said: messages.at(-1) }
    },
  }
}
